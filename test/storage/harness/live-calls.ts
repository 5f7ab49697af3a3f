// The calls of the stores behind the dashboard and the metrics.

import type { StateChange } from '../../../src/core/live.ts'
import type { StoreCall } from './all-stores.ts'

function sampleChange(id: string): StateChange {
  return { id, instance: 'shop', at: 1000, state: 'ready', reason: 'logged in' }
}

export const liveCalls: Readonly<Record<string, StoreCall>> = {
  'StateChangeStore.add': { kind: 'repeated', run: ({ states }, id) => states.add([sampleChange(id)]) },
  'StateChangeStore.since': { kind: 'read', run: ({ states }) => states.since('shop', 2000) },
  'StateChangeStore.prune': {
    kind: 'repeated',
    given: ({ states }, id) => states.add([sampleChange(id)]),
    run: ({ states }) => states.prune(2000),
  },
  'QueueAgeStore.received': { kind: 'read', run: ({ queueAges }) => queueAges.received() },
  'RecentSendStore.since': { kind: 'read', run: ({ recentSends }) => recentSends.since(1) },
  'QueueAgeStore.outgoing': { kind: 'read', run: ({ queueAges }) => queueAges.outgoing() },
  'WaitingStore.counts': { kind: 'read', run: ({ waiting }) => waiting.counts() },
  'LastMessageStore.find': { kind: 'read', run: ({ lastMessages }) => lastMessages.find('shop') },
  'LastMessageStore.put': {
    kind: 'repeated',
    run: ({ lastMessages }) => lastMessages.put(new Map([['shop', { inAt: 1000, outAt: null }]])),
  },
}

// The calls of the store of dates.

import type { StoreCall, Stores } from './all-stores.ts'

const destination = { key: 'https://desk|1|7', baseUrl: 'https://desk', apiToken: 'token', accountId: 1, inboxId: 7 }
const row = { destination: destination.key, messageId: 41 }
const queued = ({ database, dates }: Stores, id: string) =>
  database.write(
    dates.queueStatement({ destination, conversationId: 12, messageId: 41, sourceId: id, at: 5, now: 1000 }),
  )

export const dateCalls: Readonly<Record<string, StoreCall>> = {
  'MessageDateStore.queueStatement': { kind: 'repeated', run: queued },
  'MessageDateStore.due': { kind: 'read', run: ({ dates }) => dates.due('https://desk', 10) },
  'MessageDateStore.settle': {
    kind: 'repeated',
    given: queued,
    run: ({ dates }) => dates.settle({ done: [row], held: [{ ...row, messageId: 42 }] }),
  },
  'MessageDateStore.prune': { kind: 'repeated', given: queued, run: ({ dates }) => dates.prune(5000) },
}

// The calls of the stores of imports.

import type { ImportCounts } from '../../../src/storage/stores/history/import-store.ts'
import type { StoreCall, Stores } from './all-stores.ts'
import { sampleJob } from './job-calls.ts'
import { holdOf, nodeHold } from '../../harness/holds.ts'

const jids = ['5511988887777@s.whatsapp.net', '123@lid']
const anchor = { key: { chat: '123@lid', id: 'oldest', fromMe: false, participant: null }, at: 5 }
const place = { destination: 'd', conversationId: 1, target: 'history' } as const
const counts: ImportCounts = { seen: 9, kept: 8, posted: 5, skipped: 2, errors: 1, oldestAt: 1, newestAt: 9 }
const into = { instance: 'shop', chat: 'chat', jids, destination: 'd', conversationId: 1 }

const plan = ({ imports }: Stores, id: string) => imports.plan({ id, instance: 'shop' }, [{ chat: 'chat', jids }])
const planned = async (stores: Stores, id: string) => {
  await stores.jobs.create(sampleJob(id))
  await plan(stores, id)
}
const key = (id: string) => ({ jobId: id, chat: 'chat' })

const conversation = { destination: 'https://desk|1|1', conversationId: 5 }
const begun = ({ marks }: Stores, id: string) =>
  marks.begin(holdOf('shop'), { ...conversation, instance: 'shop', chat: id }, { isHistory: true, now: 1000 })

export const importCalls: Readonly<Record<string, StoreCall>> = {
  'ImportStore.plan': { kind: 'repeated', run: plan },
  'ImportStore.unfinished': { kind: 'read', run: ({ imports }, id) => imports.unfinished(id) },
  'ImportStore.abandoned': { kind: 'read', run: ({ imports }) => imports.abandoned('all') },
  'ImportStore.isAbandoned': { kind: 'read', run: ({ imports }) => imports.isAbandoned('shop', place) },
  'ImportStore.noteAnchor': {
    kind: 'repeated',
    given: planned,
    run: ({ imports }, id) => imports.noteAnchor('shop', key(id), anchor),
  },
  'ImportStore.begin': {
    kind: 'repeated',
    given: planned,
    run: ({ imports }, id) => imports.begin('shop', key(id), 7),
  },
  'ImportStore.noteOpening': {
    kind: 'repeated',
    given: planned,
    run: ({ imports }, id) => imports.noteOpening('shop', key(id), { destination: 'd', since: 1000 }),
  },
  'ImportStore.setPlace': {
    kind: 'repeated',
    given: planned,
    run: ({ imports }, id) => imports.setPlace('shop', key(id), place),
  },
  'ImportStore.end': {
    kind: 'repeated',
    given: planned,
    run: ({ imports, history }, id) =>
      imports.end('shop', key(id), { outcome: 'imported', counts }, history.removeStatements('shop', jids, id)),
  },
  'ImportStore.totals': { kind: 'read', run: ({ imports }, id) => imports.totals(id) },
  'BridgedStore.chats': { kind: 'read', run: ({ bridged }) => bridged.chats('shop') },
  'BridgedStore.hasLive': { kind: 'read', run: ({ bridged }) => bridged.hasLive(into, 1000) },
  'BridgedStore.newestAt': { kind: 'read', run: ({ bridged }) => bridged.newestAt(into) },
  'ImportMarks.begin': { kind: 'repeated', run: begun },
  'ImportMarks.end': {
    kind: 'repeated',
    given: begun,
    run: ({ marks }) => marks.end(holdOf('shop'), conversation, 2000),
  },
  'ImportMarks.endAbandoned': {
    kind: 'repeated',
    given: begun,
    run: ({ marks }) => marks.endAbandoned(nodeHold(), 2000),
  },
}

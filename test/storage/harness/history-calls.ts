// The calls of the stores of the history.

import type { MessageEvent } from '../../../src/core/message.ts'
import type { NewHistoryRow } from '../../../src/storage/stores/history/keep-statements.ts'
import { sampleAudit, sampleInstance } from '../../harness/samples.ts'
import { holdOf, nodeHold } from '../../harness/holds.ts'
import type { StoreCall, Stores } from './all-stores.ts'

const chat = { kind: 'person' as const, phone: '5511988887777', lid: null }
const chatJid = '5511988887777@s.whatsapp.net'
const page = { since: 0, after: { sentAt: 1, position: 1, id: '' }, limit: 10 }

function row(id: string): NewHistoryRow {
  const rest = { pushName: null, quote: null, mentions: [], ad: null, secret: null }
  const content = { type: 'text' as const, text: 'hello' }
  const event: MessageEvent = { id, at: 5, chat, sender: chat, fromMe: false, kind: 'message', content, ...rest }
  return { id, chatJid, participant: '', position: 1, event }
}

const anchor = (id: string) => ({ key: { chat: chatJid, id, fromMe: false, participant: null }, at: 5 })
const instanceOf = (id: string) => `shop of ${id}`
const created = ({ instances }: Stores, id: string) =>
  instances.insert(holdOf('a'), sampleInstance(instanceOf(id)), sampleAudit())
const keep = ({ history }: Stores, id: string) =>
  history.keep(holdOf(instanceOf(id)), [row(id)], new Map([[chatJid, anchor(id)]]))
const kept = async (stores: Stores, id: string) => {
  await created(stores, id)
  await keep(stores, id)
}
const imported = async (stores: Stores, id: string) => {
  await kept(stores, id)
  await stores.history.setOutcome(holdOf('a'), id, 'posted', 'job')
}

export const historyCalls: Readonly<Record<string, StoreCall>> = {
  'HistoryStore.keep': { kind: 'repeated', given: created, run: keep },
  'HistoryStore.chats': { kind: 'read', run: ({ history }, id) => history.chats(instanceOf(id), 5) },
  'HistoryStore.count': { kind: 'read', run: ({ history }, id) => history.count(instanceOf(id)) },
  'HistoryStore.pending': { kind: 'read', run: ({ history }, id) => history.pending(instanceOf(id), [chatJid], page) },
  'HistoryStore.anchorOf': {
    kind: 'read',
    run: ({ history }, id) => history.anchorOf(instanceOf(id), [chatJid, '123@lid']),
  },
  'HistoryStore.outcomeStatement': {
    kind: 'repeated',
    given: kept,
    run: ({ database, history }, id) => database.write(history.outcomeStatement(id, 'skipped', 'job')),
  },
  'HistoryStore.setOutcome': {
    kind: 'repeated',
    given: kept,
    run: ({ history }, id) => history.setOutcome(holdOf('a'), id, 'posted', 'job'),
  },
  'HistoryStore.outcomes': {
    kind: 'read',
    run: ({ history }, id) => history.outcomes(instanceOf(id), [chatJid, '123@lid'], 'job'),
  },
  'HistoryStore.removeStatements': {
    kind: 'repeated',
    given: imported,
    run: ({ database, history }, id) =>
      database.write(...history.removeStatements(instanceOf(id), [chatJid, '123@lid'], 'job')),
  },
  'HistoryRemoval.dropInstance': {
    kind: 'repeated',
    given: async (stores, id) => {
      await kept(stores, id)
      await stores.instances.remove(holdOf(instanceOf(id)), null, sampleAudit())
    },
    run: ({ historyRemoval }, id) => historyRemoval.dropInstance(nodeHold(), instanceOf(id), 1000),
  },
  'HistoryRemoval.orphans': { kind: 'read', run: ({ historyRemoval }) => historyRemoval.orphans() },
  'HistoryRemoval.prune': {
    kind: 'repeated',
    given: kept,
    run: ({ historyRemoval }) => historyRemoval.prune(nodeHold(), 5000, 1000),
  },
}

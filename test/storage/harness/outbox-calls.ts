// The calls of the stores of sent messages: the outbox, callbacks, Retry and what the helpdesk shows.

import { requestKeyLifetimeMs } from '../../../src/storage/stores/messages/settled-callbacks.ts'
import type { OutboxPart } from '../../../src/core/outbox.ts'
import type { OutboxRow } from '../../../src/storage/stores/messages/outbox-rows.ts'
import { toStatement } from '../../../src/storage/engine/statement.ts'
import { sampleOutboxRow } from '../../harness/samples.ts'
import type { StoreCall, Stores } from './all-stores.ts'

const destination = 'https://desk|1|7'
const address = '5511888880001@s.whatsapp.net'
const unknown: OutboxPart[] = [{ id: 'W1', of: 'text', state: 'unknown' }]
const atOnce = { isWaiting: false, isDrained: false, expiresAt: null }

/** A number of its own for each call, because messages are known by numbers. */
function messageId(id: string): number {
  return Array.from(id).reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_000_007, 7)
}

const row = (id: string) => sampleOutboxRow(id, { messageId: messageId(id), chatId: id })
const callback = (id: string) => ({ destination, kind: 'message_created', eventId: messageId(id) })
const pending = ({ outbox }: Stores, id: string) => outbox.enqueue(row(id), callback(id))
const claimed = ({ outbox }: Stores, id: string) => outbox.enqueue(row(id), callback(id), { parts: unknown, address })
const refused = ({ outbox }: Stores, id: string) =>
  outbox.keepRefused(row(id), { reason: 'no', lookAt: 2000 }, callback(id))
const unheard = ({ retries }: Stores, id: string) =>
  retries.keepChange({ row: row(id), callback: null, reason: null }, { at: 2000, until: 9000 })
const request = (id: string) => ({ instance: 'shop', requestKey: id, fingerprint: 'asked' })
const requested = ({ outbox }: Stores, id: string) => outbox.enqueue(row(id), request(id))
const failed = async (stores: Stores, id: string) => {
  await pending(stores, id)
  await stores.transitions.fail(await found(stores, id), 'no', 1500, 2000)
}
async function found({ outbox }: Stores, id: string): Promise<OutboxRow> {
  const stored = await outbox.find(id)
  if (!stored) throw new Error(`${id} is not in the outbox`)
  return stored
}
const key = (id: string) => ({ instance: 'shop', chatId: id, destination, conversationId: 5, callback: callback(id) })
const sentMessage = (id: string) => ({
  ...{ id, instance: 'shop', destination, chatId: id, kind: 'message', conversationId: 5, messageId: 6, at: 1000 },
  networkAt: 1000,
  networkKey: { chat: address, id, fromMe: true, participant: null },
  content: { text: 'hello' },
})
const mapped = ({ database, sent }: Stores, id: string) => database.write(sent.insertStep(sentMessage(id)))

const storeCalls: Readonly<Record<string, StoreCall>> = {
  'OutboxStore.enqueue': { kind: 'repeated', run: pending },
  'OutboxStore.enqueueIf': {
    kind: 'repeated',
    run: ({ database, outbox }, id) => {
      const unchanged = toStatement(database.query.selectFrom('lease').select('epoch'))
      return outbox.enqueueIf(
        { conditions: [unchanged], unread: unchanged },
        { ...row(id), isWaiting: true },
        callback(id),
      )
    },
  },
  'OutboxStore.keepRefused': { kind: 'repeated', run: refused },
  'OutboxStore.prune': { kind: 'repeated', given: failed, run: ({ outbox }) => outbox.prune(5000, 5000) },
  'OutboxStore.settleAhead': {
    kind: 'repeated',
    run: ({ outbox }, id) => outbox.settleAhead('shop', callback(id), 1000),
  },
  'OutboxStore.find': { kind: 'read', run: ({ outbox }, id) => outbox.find(id) },
  'OutboxStore.open': { kind: 'read', run: ({ outbox }, id) => outbox.open(id) },
  'OutboxStore.settledBy': { kind: 'read', run: ({ outbox }, id) => outbox.settledBy(callback(id)) },
  'OutboxStore.ofMessage': { kind: 'read', run: ({ outbox }, id) => outbox.ofMessage(destination, messageId(id)) },
  'OutboxStore.newestOf': { kind: 'read', run: ({ outbox }, id) => outbox.newestOf('shop', id) },
  'OutboxStore.live': { kind: 'read', run: ({ outbox }) => outbox.live('shop') },
  'OutboxStore.moveRows': {
    kind: 'repeated',
    given: pending,
    run: ({ outbox }, id) => outbox.moveRows('shop', { keep: 'kept', drop: id }),
  },
  'OutboxStore.countWaiting': { kind: 'read', run: ({ outbox }) => outbox.countWaiting('shop') },
  'OutboxStore.liveOfDeleted': { kind: 'read', run: ({ outbox }) => outbox.liveOfDeleted() },
  'OutboxStore.countPending': { kind: 'read', run: ({ outbox }) => outbox.countPending('all') },
  'OutboxStore.totals': { kind: 'read', run: ({ outbox }) => outbox.totals('shop') },
  'RequestKeyStore.find': { kind: 'read', run: ({ requests }, id) => requests.find('shop', id, 1000) },
  'RequestKeyStore.prune': {
    kind: 'repeated',
    given: requested,
    run: ({ requests }) => requests.prune(1000 + requestKeyLifetimeMs),
  },
  'FirstCallbackStore.find': { kind: 'read', run: ({ firstCallbacks }, id) => firstCallbacks.find(id) },
  'FirstCallbackStore.note': { kind: 'repeated', run: ({ firstCallbacks }, id) => firstCallbacks.note(id, 1000) },
}

const transitionCalls: Readonly<Record<string, StoreCall>> = {
  'OutboxTransitions.recover': {
    kind: 'repeated',
    given: claimed,
    run: ({ transitions }) => transitions.recover('shop'),
  },
  'OutboxTransitions.claim': {
    kind: 'repeated',
    given: pending,
    run: ({ transitions }, id) => transitions.claim('shop', id, 1000, unknown, address),
  },
  'OutboxTransitions.unclaim': {
    kind: 'repeated',
    given: claimed,
    run: ({ transitions }, id) => transitions.unclaim('shop', id),
  },
  'OutboxTransitions.saveParts': {
    kind: 'repeated',
    given: claimed,
    run: ({ transitions }, id) => transitions.saveParts('shop', id, []),
  },
  'OutboxTransitions.markSent': {
    kind: 'repeated',
    given: claimed,
    run: ({ transitions, sent }, id) =>
      transitions.markSent({ id, instance: 'shop' }, [], 1500, [sent.insertStep(sentMessage(id))]),
  },
  'OutboxTransitions.postpone': {
    kind: 'repeated',
    given: claimed,
    run: ({ transitions }, id) =>
      transitions.postpone('shop', id, { parts: unknown, reason: 'later', nextAttemptAt: 3000, counted: 0 }),
  },
  'OutboxTransitions.fail': {
    kind: 'repeated',
    given: pending,
    run: async (stores, id) => stores.transitions.fail(await found(stores, id), 'no', 1500, 2000),
  },
  'OutboxTransitions.cancel': {
    kind: 'repeated',
    given: pending,
    run: async (stores, id) => stores.transitions.cancel(await found(stores, id), 'deleted', 1500),
  },
  'OutboxTransitions.timeNeeds': { kind: 'read', run: ({ transitions }) => transitions.timeNeeds(['shop'], 1000) },
  'OutboxTransitions.due': { kind: 'read', run: ({ transitions }) => transitions.due('shop', 1000) },
  'OutboxTransitions.expire': {
    kind: 'repeated',
    given: ({ outbox }, id) => outbox.enqueue({ ...row(id), isWaiting: true, expiresAt: 1200 }, callback(id)),
    run: async (stores, id) => stores.transitions.expire(await found(stores, id), 'time over', 1500),
  },
  'OutboxTransitions.startWaiting': {
    kind: 'repeated',
    given: pending,
    run: ({ transitions }) => transitions.startWaiting('shop', 1000),
  },
  'OutboxTransitions.stopWaiting': {
    kind: 'repeated',
    given: async (stores, id) => {
      await pending(stores, id)
      await stores.transitions.startWaiting('shop', 1000)
    },
    run: ({ transitions }) => transitions.stopWaiting('shop', 1000),
  },
  'OutboxTransitions.withdraw': {
    kind: 'repeated',
    given: pending,
    run: ({ transitions }, id) => transitions.withdraw('shop', id, 'too late', 1500),
  },
  // Without a callback the caller looks for the row of the message first.
  'RetryStore.keepChange': {
    kind: 'repeated',
    run: ({ retries }, id) =>
      retries.keepChange({ row: row(id), callback: callback(id), reason: null }, { at: 2000, until: 9000 }),
  },
  'RetryStore.retry': {
    kind: 'repeated',
    given: failed,
    run: async (stores, id) =>
      stores.retries.retry(await found(stores, id), unknown, { ...atOnce, isWaiting: true }, 3000),
  },
  'RetryStore.isUnderImport': {
    kind: 'read',
    run: ({ retries }) => retries.isUnderImport({ destination, conversationId: 5 }, 1000),
  },
  'RetryStore.discard': { kind: 'repeated', given: unheard, run: ({ retries }, id) => retries.discard('shop', id) },
}

const shownCalls: Readonly<Record<string, StoreCall>> = {
  'ShownStore.confirm': { kind: 'repeated', given: pending, run: ({ shown }, id) => shown.confirm('shop', id, 2000) },
  'ShownStore.noteAnswers': { kind: 'repeated', given: pending, run: ({ shown }, id) => shown.noteAnswers([id]) },
  'ShownStore.noteFailure': {
    kind: 'repeated',
    given: failed,
    run: ({ shown }, id) => shown.noteFailure('shop', id, 2000),
  },
  'ShownStore.planUnsure': {
    kind: 'repeated',
    given: pending,
    run: ({ shown }) => shown.planUnsure({ after: 0, before: 5000 }, 5000, 'all'),
  },
  'ShownStore.due': { kind: 'read', run: ({ shown }) => shown.due(5000, 10, 'all') },
  // Each plan has a time of its own.
  'ShownStore.endLooks': {
    kind: 'repeated',
    given: failed,
    run: ({ shown }, id) => shown.endLooks([{ id, instance: 'shop', lookAt: 2000 }]),
  },
  'ShownStore.planLook': { kind: 'counted', given: failed, run: ({ shown }, id) => shown.planLook('shop', id, 3000) },
  'ShownStore.ask': {
    kind: 'counted',
    given: failed,
    run: ({ shown }, id) => shown.ask('shop', id, { at: 3000, until: 9000 }),
  },
  'ShownStore.reportedOf': { kind: 'read', run: ({ shown }) => shown.reportedOf(destination, 6) },
  'ShownStore.saveLook': {
    kind: 'repeated',
    given: failed,
    run: async (stores, id) => stores.shown.saveLook(await found(stores, id), 'told', null),
  },
  'SendContextStore.read': { kind: 'read', run: ({ contexts }, id) => contexts.read(key(id)) },
  'SendContextStore.recall': {
    kind: 'read',
    given: mapped,
    run: async ({ contexts, database }, id) => {
      await contexts.read(key(id))
      const facts = contexts.recall(key(id))
      if (!facts) throw new Error('nothing is recalled')
      await database.write(facts.unchanged)
    },
  },
  'SendContextStore.storedConversation': {
    kind: 'read',
    run: ({ contexts }) => contexts.storedConversation(destination, 5),
  },
  'SendContextStore.acceptedAmong': {
    kind: 'read',
    run: ({ contexts }) => contexts.acceptedAmong(destination, [1, 2]),
  },
  'SendContextStore.leave': {
    kind: 'read',
    run: ({ contexts }) => {
      contexts.leave('shop')
      return Promise.resolve()
    },
  },
  'OfferStore.chatsWithOffers': { kind: 'read', run: ({ offers }) => offers.chatsWithOffers('shop', 1000, 10) },
  'OfferStore.newest': { kind: 'read', run: ({ offers }, id) => offers.newest('shop', id, 2000, 1000) },
  'SentMessageStore.insertStep': { kind: 'repeated', run: mapped },
  'SentMessageStore.withdrawStep': {
    kind: 'repeated',
    given: ({ database, sent }, id) =>
      database.write(sent.insertStep({ ...sentMessage(id), content: { choices: ['Yes'] } })),
    run: ({ database, sent }) => database.write(sent.withdrawStep(destination, 6)),
  },
  'SentMessageStore.lastAddress': { kind: 'read', run: ({ sent }, id) => sent.lastAddress('shop', id) },
  'SentMessageStore.isKnown': { kind: 'read', run: ({ sent }, id) => sent.isKnown('shop', id) },
  'SentMessageStore.countFirstContacts': { kind: 'read', run: ({ sent }) => sent.countFirstContacts('shop', 1000) },
  'SentMessageStore.unread': { kind: 'read', run: ({ sent }) => sent.unread(destination, 5, 5000, 10) },
  'SentMessageStore.saveContent': {
    kind: 'repeated',
    given: mapped,
    run: ({ sent }, id) => sent.saveContent('shop', id, { text: 'edited' }),
  },
  'SentMessageStore.markRead': {
    kind: 'repeated',
    given: mapped,
    run: ({ sent }, id) => sent.markRead('shop', [id], 1000),
  },
}

const reported = async (stores: Stores, id: string) => {
  await mapped(stores, id)
  await stores.ticks.report('shop', { delivered: [], read: [id] }, 1000)
}
const parts = (id: string) => [{ id, reported: 'read' as const, reportedAt: 1000, ticked: null, tickAt: 1000 }]

const tickCalls: Readonly<Record<string, StoreCall>> = {
  'TickStore.find': { kind: 'read', run: ({ ticks }, id) => ticks.find('shop', [id]) },
  'TickStore.report': {
    kind: 'repeated',
    given: mapped,
    run: ({ ticks }, id) => ticks.report('shop', { delivered: [id], read: [id] }, 1000),
  },
  'TickStore.due': { kind: 'read', run: ({ ticks }) => ticks.due(5000, 10, ['held'], 'all') },
  'TickStore.message': { kind: 'read', run: ({ ticks }) => ticks.message(destination, 6) },
  'TickStore.settle': { kind: 'repeated', given: reported, run: ({ ticks }, id) => ticks.settle('shop', parts(id)) },
  'TickStore.ticked': {
    kind: 'repeated',
    given: reported,
    run: ({ ticks }, id) => ticks.ticked({ instance: 'shop', destination, messageId: 6 }, parts(id), 'read', 9000),
  },
  'TickStore.postpone': {
    kind: 'repeated',
    given: reported,
    run: ({ ticks }) => ticks.postpone('shop', { destination, conversationId: 5 }, 5000, 65_000),
  },
  'TickStore.hasNewerUnread': { kind: 'read', run: ({ ticks }, id) => ticks.hasNewerUnread(destination, 5, id) },
}

export const outboxCalls: Readonly<Record<string, StoreCall>> = {
  ...storeCalls,
  ...transitionCalls,
  ...shownCalls,
  ...tickCalls,
}

// The calls of the stores that a message or a tick of a worker makes, on rows that are drawn at random.

import { createRowIds } from '../src/lib/row-ids.ts'
import type { RowScope } from '../src/core/nodes/duties.ts'
import type { NetworkEvent } from '../src/core/message.ts'
import { holdOf } from '../test/harness/holds.ts'
import { sampleOutboxRow } from '../test/harness/samples.ts'
import type { Stores } from '../test/storage/harness/all-stores.ts'
import { dayMs } from './large-fill.ts'
import { nameOf } from './large-names.ts'
import type { Sizes } from './large-names.ts'

/** Each call draws its own row. */
export type Queries = Readonly<Record<string, () => Promise<unknown>>>

const address = '5511900000000@s.whatsapp.net'
const person = { kind: 'person' as const, phone: '5511900000000', lid: null }

export function hotQueries(stores: Stores, sizes: Sizes): Queries {
  const draw = drawer(sizes)
  const scope = scopeOf(stores, sizes)
  return {
    ...ofCallbacks(stores, draw, scope),
    ...ofReceived(stores, draw),
    ...ofTicks(stores, draw, scope),
    ...ofReads(stores, draw),
  }
}

/** What the machine and the disk take at least. A busy machine misses the targets with these already. */
export function smallTableQueries({ firstCallbacks }: Stores): Queries {
  return {
    read: () => firstCallbacks.find('none'),
    write: () => firstCallbacks.note('none', 1000),
  }
}

/** Calls that read everything that waits, or a year. They are measured, and no message waits for them. */
export function overviewQueries(stores: Stores, sizes: Sizes): Queries {
  const { waiting, usage, sent, outbox } = stores
  const draw = drawer(sizes)
  const scope = scopeOf(stores, sizes)
  return {
    // Every five seconds. Counts all messages that wait, on an index.
    rows_by_instance: () => outbox.countPending(scope),
    waiting_counts: () => waiting.counts(),
    usage_totals: () => usage.totals(),
    usage_of_all_instances: () => usage.daily(month()),
    first_contacts: () => sent.countFirstContacts(draw().instance, Date.now() - dayMs),
  }
}

/** On PostgreSQL the node names the instances that it holds. */
function scopeOf({ database }: Stores, sizes: Sizes): RowScope {
  if (database.engine === 'sqlite') return 'all'
  return {
    held: Array.from({ length: sizes.instances }, (_, index) => nameOf.instance(index, sizes)),
    withDeleted: true,
  }
}

type Drawn = ReturnType<ReturnType<typeof drawer>>

function drawer(sizes: Sizes) {
  const newId = createRowIds({ now: () => Date.now() })
  let eventId = sizes.messages * 10
  return () => {
    const message = Math.floor(Math.random() * sizes.messages)
    const conversation = message % sizes.conversations
    const [instance, destination] = [nameOf.instance(conversation, sizes), nameOf.destination(conversation, sizes)]
    const names = { chat: nameOf.chat(conversation), networkId: nameOf.network(message) }
    const contact = Math.floor(Math.random() * sizes.contacts)
    const ids = { message, conversation, contact, id: newId(), eventId: (eventId += 1) }
    return { ...ids, ...names, instance, destination, phone: nameOf.phone(conversation) }
  }
}

function callbackOf({ destination, eventId }: Drawn) {
  return { destination, kind: 'message_created', eventId }
}

function sentMessage({ id, instance, destination, chat, conversation, eventId }: Drawn) {
  const at = Date.now()
  const place = { id, instance, destination, chatId: chat, conversationId: conversation, messageId: eventId }
  const networkKey = { chat: address, id, fromMe: true, participant: null }
  return { ...place, kind: 'message', networkKey, at, networkAt: at, content: { text: 'hello' } }
}

function ofCallbacks(
  { outbox, contexts, transitions, sent, shown, recentSends }: Stores,
  draw: () => Drawn,
  scope: RowScope,
): Queries {
  const accept = async (drawn: Drawn) => {
    const { id, instance, destination, chat: chatId, conversation: conversationId, eventId: messageId } = drawn
    const place = { instance, destination, chatId, conversationId, messageId, createdAt: Date.now() }
    await outbox.enqueue(sampleOutboxRow(id, place), callbackOf(drawn), { parts: [], address })
    return drawn
  }
  return {
    callback_context: () => {
      const drawn = draw()
      const { instance, destination, chat: chatId, conversation: conversationId } = drawn
      return contexts.read({ instance, destination, chatId, conversationId, callback: callbackOf(drawn) })
    },
    callback_repeated: () => outbox.settledBy(callbackOf(draw())),
    callback_accepted_and_sent: async () => {
      const drawn = await accept(draw())
      await transitions.markSent(drawn, [], Date.now(), [sent.insertStep(sentMessage(drawn))])
    },
    row_of_message: () => outbox.ofMessage(draw().destination, draw().message),
    newest_of_chat: () => outbox.newestOf(draw().instance, draw().chat),
    last_address: () => {
      const { instance, chat } = draw()
      return sent.lastAddress(instance, chat)
    },
    unread_of_conversation: () => {
      const { destination, conversation } = draw()
      return sent.unread(destination, conversation, Date.now(), 100)
    },
    rows_of_instance: () => outbox.live(draw().instance),
    recent_sends: () => recentSends.since(Date.now() - 60_000),
    rows_unsure: () => shown.planUnsure({ after: Date.now() - 120_000, before: Date.now() - 60_000 }, 0, scope),
    looks_due: () => shown.due(Date.now(), 100, scope),
  }
}

function ofReceived({ database, journal, inbox, map, people, contacts, headers }: Stores, draw: () => Drawn): Queries {
  return {
    message_received: () => {
      const { id, instance } = draw()
      return database.write(journal.inbox({ id, instance, event: eventOf(id), receivedAt: Date.now() }))
    },
    message_posted: async () => {
      const { id, instance, destination, chat, conversation: conversationId, eventId: messageId } = draw()
      const at = Date.now()
      const identity = { instance, destination, chat, sender: chat, networkId: id, kind: 'message' }
      const networkKey = { chat: address, id, fromMe: false, participant: null }
      const posting = { conversationId, since: at, after: 0 }
      const rest = { direction: 'in' as const, networkKey, networkAt: at, content: { text: 'hello' }, posting }
      await map.claim(holdOf(instance), { id, ...identity, ...rest }, '')
      await map.complete(holdOf(instance), id, { conversationId, messageId }, [inbox.removeStep(id)])
    },
    was_opened: () => journal.wasOpened(`session-0`, draw().networkId),
    message_by_network_id: () => {
      const { instance, networkId } = draw()
      return map.findByNetworkId(instance, [networkId])
    },
    message_by_helpdesk_id: () => {
      const { destination, message } = draw()
      return map.findByMessage(destination, message)
    },
    person: () => {
      const { instance, phone } = draw()
      return people.find(instance, { phone, lid: null })
    },
    contact: () => contacts.findContacts(draw().destination, [draw().phone]),
    conversation: () => {
      const { instance, destination, chat } = draw()
      return contacts.findConversation({ instance, destination, chat })
    },
    headers_of_sender: () => {
      const { instance, destination, chat } = draw()
      return headers.find({ instance, destination, sender: chat }, 0, 100)
    },
  }
}

function eventOf(id: string): NetworkEvent {
  const rest = { pushName: null, quote: null, mentions: [], ad: null, secret: null }
  const content = { type: 'text' as const, text: 'hello' }
  return { id, at: 5, chat: person, sender: person, fromMe: false, kind: 'message', content, ...rest }
}

function ofTicks(
  { ticks, deliveries, inbox, rejectedCalls, queueAges }: Stores,
  draw: () => Drawn,
  scope: RowScope,
): Queries {
  return {
    receipt: () => {
      const { instance, networkId } = draw()
      return ticks.find(instance, [networkId])
    },
    ticks_due: () => ticks.due(Date.now(), 100, [], scope),
    late_files: () => inbox.lateFiles('', 100, scope),
    texts_due: () => rejectedCalls.dueTexts(100, scope),
    deliveries_pending: () => deliveries.pending(scope),
    oldest_received: () => queueAges.received(),
    oldest_outgoing: () => queueAges.outgoing(),
  }
}

function ofReads({ usage, audit, deliveries, states, outbox, inbox, jobs }: Stores, draw: () => Drawn): Queries {
  return {
    usage_of_instance: () => usage.daily(month(), draw().instance),
    audit_of_instance: () => audit.list({ instance: draw().instance, limit: 100 }),
    audit_newest: () => audit.list({ limit: 100 }),
    deliveries_of_instance: () => deliveries.list(draw().instance, 100),
    states_of_instance: () => states.since(draw().instance, Date.now() - 60_000),
    outbox_totals: () => outbox.totals(draw().instance),
    inbox_counts: () => inbox.counts(draw().instance),
    jobs_of_instance: () => jobs.list(20, draw().instance),
  }
}

function month() {
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)
  return { from: dayOf(Date.now() - 30 * dayMs), to: dayOf(Date.now()) }
}

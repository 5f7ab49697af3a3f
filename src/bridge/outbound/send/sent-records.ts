// What the commit that stores an acknowledgement stores besides: the message map, and for a direct message an inbox row.
//
// The helpdesk does not have a direct message yet. The inbox row says that the account itself wrote the message, as if on the
// phone. The inbound room posts it exactly once, also after a crash, and finds its row of the message map.

import { parseChat } from '../../../core/address.ts'
import type { Person } from '../../../core/address.ts'
import type { ChatId, InstanceName, Jid, RowId } from '../../../core/ids.ts'
import type { Content, MessageEvent, Quote } from '../../../core/message.ts'
import type { Sent } from '../../../core/network.ts'
import type { OutgoingContent, QuotedMessage } from '../../../core/network/outgoing-content.ts'
import type { OutboxPart } from '../../../core/outbox.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Statement } from '../../../storage/engine/statement.ts'
import type { JournalStore } from '../../../storage/stores/messages/journal-store.ts'
import type { MappedContent } from '../../../storage/stores/messages/message-map-store.ts'
import type { OpenOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { SentMessageStore } from '../../../storage/stores/messages/sent-message-store.ts'

type Deps = {
  sent: Pick<SentMessageStore, 'insertStep' | 'withdrawStep'>
  journal: Pick<JournalStore, 'inbox'>
  ownJid: (instance: InstanceName) => Jid | null
  newId: () => RowId
  clock: Clock
  /** The inbox may have this new row: a commit is over, and may have failed. */
  onInboxRow: (instance: InstanceName, id: RowId) => void
}

/** A part that the network acknowledged. */
export type SentPart = {
  row: OpenOutboxRow
  part: OutboxPart
  address: Jid
  chatId: ChatId
  content: OutgoingContent
  /** What a quote of the part shows. */
  text: string
  sent: Sent
}

/** `over` is called when the commit with these steps is over. */
export type SentRecord = { steps: readonly Statement[]; over: () => void }

export class SentRecords {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  of(part: SentPart): SentRecord {
    const { sent, newId, onInboxRow } = this.#deps
    const { payload, destination, instance } = part.row
    if (payload.type === 'revoke') return recordOf(sent.withdrawStep(destination, payload.messageId))
    const mapping = this.#mapping(part)
    const event = payload.type === 'direct' ? this.#eventOf(part) : undefined
    if (!event) return recordOf(mapping)
    const id = newId()
    const over = () => {
      onInboxRow(instance, id)
    }
    return { steps: [mapping, this.#inboxStep(part, id, event)], over }
  }

  #mapping({ row, part, address, chatId, content, text, sent: { at, secret } }: SentPart): Statement {
    const { sent, newId, clock } = this.#deps
    const choices = row.payload.type === 'message' && row.payload.choices
    return sent.insertStep({
      id: newId(),
      instance: row.instance,
      destination: row.destination,
      chatId,
      networkKey: { chat: address, id: part.id, fromMe: true, participant: null },
      kind: content.type === 'reaction' ? 'reaction' : 'message',
      conversationId: row.conversationId,
      messageId: row.messageId,
      content: { ...mappedContent(content, text), ...(choices && { choices }), ...(secret && { secret }) },
      at: clock.now(),
      networkAt: this.#networkTime(at),
    })
  }

  #inboxStep({ row }: SentPart, id: RowId, event: MessageEvent): Statement {
    return this.#deps.journal.inbox({ id, instance: row.instance, event, receivedAt: this.#deps.clock.now() })
  }

  /** The message as the account itself wrote it. Undefined when it cannot be shown. */
  #eventOf({ row, part, address, content, sent }: SentPart): MessageEvent | undefined {
    const chat = parseChat(address)
    const shown = shownContent(content, sent)
    if (!chat || !shown) return undefined
    return {
      kind: 'message',
      id: part.id,
      at: this.#networkTime(sent.at),
      chat,
      sender: personAt(this.#deps.ownJid(row.instance)) ?? { phone: null, lid: null },
      fromMe: true,
      pushName: null,
      content: shown,
      quote: 'quote' in content && content.quote ? quoteOf(content.quote) : null,
      mentions: 'mentions' in content ? content.mentions : [],
      ad: null,
      secret: sent.secret ?? null,
      isDirect: true,
      queueId: row.id,
    }
  }

  /** The network counts in seconds. */
  #networkTime(at: number | null): number {
    return at ?? Math.floor(this.#deps.clock.now() / 1000) * 1000
  }
}

function recordOf(...steps: readonly Statement[]): SentRecord {
  return { steps, over: () => undefined }
}

/** A message that is no text cannot be made again from its text. */
function mappedContent(content: OutgoingContent, text: string): MappedContent {
  if (content.type === 'reaction') return { text, reactsTo: content.target }
  return content.type === 'text' ? { text } : { text, isFile: true }
}

function shownContent(content: OutgoingContent, { file }: Sent): Content | undefined {
  switch (content.type) {
    case 'text':
      return { type: 'text', text: content.text }
    case 'file':
      return file
    case 'location': {
      const { latitude, longitude, name, address } = content
      return { type: 'location', latitude, longitude, name, address, caption: null, live: false }
    }
    case 'contact':
      return { type: 'contacts', cards: [{ name: content.name, phones: [`+${content.phone}`], organisation: null }] }
    case 'reaction':
    case 'edit':
    case 'revoke':
    case 'group_invite':
      return undefined
  }
}

function quoteOf({ key, text }: QuotedMessage): Quote {
  const { id, fromMe, participant, chat } = key
  return { id, sender: fromMe ? null : personAt(participant ?? chat), fromMe, text: text === '' ? null : text }
}

function personAt(jid: Jid | null): Person | null {
  const chat = jid === null ? undefined : parseChat(jid)
  return chat?.kind === 'person' ? { phone: chat.phone, lid: chat.lid } : null
}

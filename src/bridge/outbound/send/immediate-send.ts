// Prepares messages that can leave as soon as they are stored. One commit then accepts the row and claims it for sending.
// A message that needs a download, a lookup or an answer of the network goes through the outbox queue instead.

import type { ChatId, Jid } from '../../../core/ids.ts'
import type { NetworkSession } from '../../../core/network.ts'
import type { MessagePayload, OutboxPart } from '../../../core/outbox.ts'
import type { Restrictions } from '../../../guard/restrictions.ts'
import { longText } from '../../../lib/text/text-converter.ts'
import type { FirstClaim, NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { MessageComposer, MessageDraft } from '../compose/message-composer.ts'
import type { ChatFacts, ChatRef, Recipients } from './recipients.ts'
import type { SendingAccounts } from './sending-accounts.ts'
import { SendRefusal } from '../compose/send-refusal.ts'

/** Where a message goes and what it consists of. Its parts have the ids under which they leave. */
export type PreparedSend = {
  address: Jid
  chatId: ChatId
  /** No message of the chat is known, of either side. */
  isFirst: boolean
  draft: MessageDraft
  parts: OutboxPart[]
}

/** A prepared message whose row is being stored. It leaves when `stored` resolves to true, and never when to false. */
export type SendWhenStored = { prepared: PreparedSend; stored: Promise<boolean> }

type Deps = {
  composer: Pick<MessageComposer, 'draft'>
  recipients: Pick<Recipients, 'knownAddressOf'>
  restrictions: Pick<Restrictions, 'stopOf'>
  accounts: Pick<SendingAccounts, 'sessionOf'>
}

export class ImmediateSend {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Undefined when the message has to go through the queue. */
  async prepare(row: NewOutboxRow, ref: ChatRef, facts: ChatFacts): Promise<PreparedSend | undefined> {
    const { accounts, restrictions, recipients } = this.#deps
    const { instance, payload } = row
    const session = accounts.sessionOf(instance)
    if (!session || row.isWaiting || payload.type !== 'message' || !isPlain(payload, ref)) return undefined
    const isStopped = restrictions.stopOf(instance) !== undefined
    if (isStopped && !ref.isGroup && facts.lastAddress === undefined) return undefined
    const known = await recipients.knownAddressOf(instance, ref, facts)
    const draft = known && (await this.#draft(row, payload, known.jid, session))
    const of = draft?.plan[0]
    if (!known || !draft || of === undefined || draft.plan.length > 1) return undefined
    const parts: OutboxPart[] = [{ id: session.newMessageId(), of, state: 'new' }]
    // The facts are about the chat of the callback.
    const isFirst = !ref.isGroup && !facts.isKnown && known.chatId === ref.chatId
    return { address: known.jid, chatId: known.chatId, isFirst, draft, parts }
  }

  async #draft(
    { instance, destination: destinationKey }: NewOutboxRow,
    payload: MessagePayload,
    address: Jid,
    session: NetworkSession,
  ): Promise<MessageDraft | undefined> {
    try {
      return await this.#deps.composer.draft(payload, { instance, destinationKey, destination: null, address }, session)
    } catch (error) {
      // The attempt from the queue finds the same refusal and reports it.
      if (error instanceof SendRefusal) return undefined
      throw error
    }
  }
}

/** The claim as it is stored: after the commit the frame may have left. */
export function claimOf({ address, parts }: PreparedSend): FirstClaim {
  return { address, parts: parts.map((part) => ({ ...part, state: 'unknown' })) }
}

/** The message has a short text, no file, quotes no message, mentions no member of a group and lacks no link. */
function isPlain(payload: MessagePayload, { isGroup }: ChatRef): boolean {
  const { attachments, inReplyTo, content, lacksSurveyLink = false } = payload
  // A long text is stored before it is converted: its callback has a deadline.
  if (content.length > longText || attachments.length > 0 || inReplyTo !== null || lacksSurveyLink) return false
  return !(isGroup && content.includes('@'))
}

// Messages that can leave as soon as they are stored: made ready before, so that being accepted and being about to leave is
// one commit. Whatever has to be fetched, asked or waited for first takes the longer way through the outbox.

import type { ChatId, Jid } from '../../../core/ids.ts'
import type { NetworkSession } from '../../../core/network.ts'
import type { MessagePayload, OutboxPart } from '../../../core/outbox.ts'
import type { Restrictions } from '../../../guard/restrictions.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { FirstClaim as Claim } from '../../../storage/stores/messages/outbox-store.ts'
import type { SendContextFacts } from '../../../storage/stores/messages/send-context-store.ts'
import type { MessageComposer, MessageDraft } from '../compose/message-composer.ts'
import type { ChatRef, Recipients } from './recipients.ts'
import { SendRefusal } from '../compose/send-refusal.ts'

export type Heard = Pick<SendContextFacts, 'lastAddress' | 'isKnown'>

/** Where a message goes and what it consists of. Its parts have the ids under which they leave. */
export type PreparedSend = { address: Jid; chatId: ChatId; draft: MessageDraft; parts: OutboxPart[] }

/** A prepared message whose row is being stored. It leaves when `stored` resolves to true, and never when to false. */
export type SendWhenStored = { prepared: PreparedSend; stored: Promise<boolean> }

type Deps = {
  composer: Pick<MessageComposer, 'draft'>
  recipients: Pick<Recipients, 'addressAtOnce'>
  restrictions: Pick<Restrictions, 'until'>
  sessionOf: (instance: string) => NetworkSession | undefined
}

export class ImmediateSend {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Undefined when it cannot be told yet what will be sent, where to, or whether at all. */
  async prepare(row: NewOutboxRow, ref: ChatRef, heard: Heard): Promise<PreparedSend | undefined> {
    const { instance, payload } = row
    const session = this.#deps.sessionOf(instance)
    if (!session || row.waiting === 1 || payload.type !== 'message' || !isPlain(payload, ref)) return undefined
    const isRestricted = this.#deps.restrictions.until(instance) !== undefined
    if (isRestricted && !ref.isGroup && heard.lastAddress === undefined) return undefined
    const address = await this.#deps.recipients.addressAtOnce(instance, ref, heard)
    const draft = address && (await this.#draft(row, payload, address.jid, session))
    const of = draft?.plan[0]
    if (!address || !draft || of === undefined || draft.plan.length > 1) return undefined
    return {
      address: address.jid,
      chatId: address.chat,
      draft,
      parts: [{ id: session.newMessageId(), of, state: 'new' }],
    }
  }

  async #draft(
    { instance, destination: destinationKey }: NewOutboxRow,
    payload: MessagePayload,
    address: string,
    session: NetworkSession,
  ): Promise<MessageDraft | undefined> {
    try {
      return await this.#deps.composer.draft(payload, { instance, destinationKey, destination: null, address }, session)
    } catch (error) {
      // Said where all refusals are said.
      if (error instanceof SendRefusal) return undefined
      throw error
    }
  }
}

/** As it is stored: from then on its frame may have left. */
export function claimOf({ address, parts }: PreparedSend): Claim {
  return { address, parts: parts.map((part) => ({ ...part, state: 'unknown' })) }
}

/** Nothing to fetch for it, nothing to look up, nobody to ask who is meant. */
function isPlain({ attachments, inReplyTo, content }: MessagePayload, { isGroup }: ChatRef): boolean {
  return attachments.length === 0 && inReplyTo === null && !(isGroup && content.includes('@'))
}

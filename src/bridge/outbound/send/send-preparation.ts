// Finds the address of an outbox row and composes its contents, right before an attempt.

import type { Destination, Downstream } from '../../../core/downstream.ts'
import type { Jid } from '../../../core/ids.ts'
import type { NetworkSession } from '../../../core/network.ts'
import type { OutgoingContent } from '../../../core/network/outgoing-content.ts'
import type { MessagePayload } from '../../../core/outbox.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import type { FirstMessageStop, Restrictions } from '../../../guard/restrictions.ts'
import type { OpenOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { DirectComposer } from '../compose/direct-composer.ts'
import type { MessageComposer, MessageDraft } from '../compose/message-composer.ts'
import type { PreparedSend } from './immediate-send.ts'
import type { RecipientAddress, Recipients } from './recipients.ts'
import type { RevokeContents } from './revoke-contents.ts'
import { SendRefusal } from '../compose/send-refusal.ts'

export const restrictedNow = writeReason('restricted')

type Deps = {
  composer: Pick<MessageComposer, 'draft'>
  direct: Pick<DirectComposer, 'draft'>
  recipients: Pick<Recipients, 'hasWritten' | 'addressOf'>
  restrictions: Pick<Restrictions, 'stopOf'>
  revokes: Pick<RevokeContents, 'of'>
  downstream: Pick<Downstream, 'helpdesk'>
  destinationOf: (row: OpenOutboxRow) => Promise<Destination | null>
}

export class SendPreparation {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async prepare(row: OpenOutboxRow, session: NetworkSession): Promise<Omit<PreparedSend, 'parts'>> {
    const { jid: address, chatId, isFirst } = await this.#addressOf(row, session)
    return { address, chatId, isFirst, draft: await this.#draftOf(row, address, session) }
  }

  async #addressOf(row: OpenOutboxRow, session: NetworkSession): Promise<RecipientAddress> {
    const { recipients, restrictions } = this.#deps
    const { instance, chatId, remoteJid: jid, payload } = row
    const ref = { chatId, jid, isGroup: jid.endsWith('@g.us') }
    // A revoke goes to the address of its message, and so does the repeat of a part that may have left.
    if (payload.type === 'revoke' || row.parts.some(({ state }) => state === 'sent' || state === 'unknown')) {
      return { jid, chatId, isFirst: false }
    }
    const stop = restrictions.stopOf(instance)
    if (stop && !(await recipients.hasWritten(instance, ref))) throw new SendRefusal(reasonOf(stop))
    return recipients.addressOf(instance, ref, session)
  }

  async #draftOf(row: OpenOutboxRow, address: Jid, session: NetworkSession): Promise<MessageDraft> {
    const { composer, direct, revokes, destinationOf } = this.#deps
    const { payload, instance, destination: destinationKey } = row
    if (payload.type === 'revoke') return revokeDraft(await revokes.of(destinationKey, payload))
    if (payload.type === 'direct') return direct.draft(payload, { instance, address }, session)
    const isPlain = payload.attachments.length === 0 && !payload.lacksSurveyLink
    const destination = isPlain ? null : await destinationOf(row)
    const whole = payload.lacksSurveyLink && destination ? await this.#withLink(row, payload, destination) : payload
    return composer.draft(whole, { instance, destinationKey, destination, address }, session)
  }

  /** The callback of a survey does not always have its link. Without the conversation the text goes out alone. */
  async #withLink(
    { conversationId }: OpenOutboxRow,
    payload: MessagePayload,
    destination: Destination,
  ): Promise<MessagePayload> {
    const { downstream } = this.#deps
    const link = conversationId === null ? null : await downstream.helpdesk(destination).surveyLink(conversationId)
    return link === null ? payload : { ...payload, content: `${payload.content}\n${link}` }
  }
}

function reasonOf({ until, isConfirmed }: FirstMessageStop): string {
  return writeReason(isConfirmed ? 'restrictedUntil' : 'mayBeRestrictedUntil', { time: new Date(until).toISOString() })
}

function revokeDraft(contents: readonly OutgoingContent[]): MessageDraft {
  return {
    plan: [...contents.keys()],
    contentOf: (of) => {
      const content = typeof of === 'number' ? contents[of] : undefined
      if (!content) throw new SendRefusal(writeReason('nothingToTakeBack'))
      return Promise.resolve({ content, text: '', leftOver: false, [Symbol.asyncDispose]: () => Promise.resolve() })
    },
  }
}

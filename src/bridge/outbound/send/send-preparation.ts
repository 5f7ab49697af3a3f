// What a row of the outbox consists of when it is sent, and where it goes.

import type { Destination } from '../../../core/downstream.ts'
import type { NetworkSession, OutgoingContent } from '../../../core/network.ts'
import type { Restrictions } from '../../../guard/restrictions.ts'
import type { OpenOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { MessageComposer, MessageDraft } from '../compose/message-composer.ts'
import type { PreparedSend } from './immediate-send.ts'
import type { Address, Recipients } from './recipients.ts'
import { SendRefusal } from '../compose/send-refusal.ts'

export const restrictedNow =
  'WhatsApp has restricted this account: it may not write to people who never wrote to it. Wait, and write less to strangers'

export type ContentDeps = {
  composer: Pick<MessageComposer, 'draft'>
  recipients: Pick<Recipients, 'hasWritten' | 'addressOf'>
  restrictions: Pick<Restrictions, 'until'>
  /** What takes back everything that was, or may have been, sent for a message at the helpdesk. */
  takingBack: (destination: string, messageId: number) => Promise<OutgoingContent[]>
  destinationOf: (row: OpenOutboxRow) => Promise<Destination | null>
}

export class SendPreparation {
  readonly #deps: ContentDeps

  constructor(deps: ContentDeps) {
    this.#deps = deps
  }

  async of(row: OpenOutboxRow, session: NetworkSession): Promise<Omit<PreparedSend, 'parts'>> {
    const { jid: address, chat } = await this.#addressOf(row, session)
    return { address, chatId: chat, draft: await this.#draftOf(row, address, session) }
  }

  async #addressOf(row: OpenOutboxRow, session: NetworkSession): Promise<Address> {
    const { recipients, restrictions } = this.#deps
    const { instance, chat, remote_jid: jid, payload } = row
    const ref = { chat, jid, isGroup: jid.endsWith('@g.us') }
    // What was sent to an address is taken back at that address, and a part that may have left is repeated there.
    if (payload.type === 'revoke' || row.parts.some(({ state }) => state === 'sent' || state === 'unknown')) {
      return { jid, chat }
    }
    const until = restrictions.until(instance)
    if (until !== undefined && !(await recipients.hasWritten(instance, ref))) throw new SendRefusal(restricted(until))
    return recipients.addressOf(instance, ref, session)
  }

  async #draftOf(row: OpenOutboxRow, address: string, session: NetworkSession): Promise<MessageDraft> {
    const { payload, instance, destination: destinationKey } = row
    if (payload.type === 'revoke') return revocation(await this.#deps.takingBack(destinationKey, payload.messageId))
    const destination = payload.attachments.length === 0 ? null : await this.#deps.destinationOf(row)
    return this.#deps.composer.draft(payload, { instance, destinationKey, destination, address }, session)
  }
}

function restricted(until: number): string {
  return `${restrictedNow} (until ${new Date(until).toISOString()})`
}

function revocation(contents: readonly OutgoingContent[]): MessageDraft {
  return {
    plan: [...contents.keys()],
    contentOf: (of) => {
      const content = typeof of === 'number' ? contents[of] : undefined
      if (!content) throw new SendRefusal('there is nothing to take back')
      return Promise.resolve({ content, text: '', leftOver: false, [Symbol.asyncDispose]: () => Promise.resolve() })
    },
  }
}

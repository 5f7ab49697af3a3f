// Makes the outbox row of a message that an agent wrote.

import type { Destination } from '../../../core/downstream.ts'
import type { WrittenMessage } from '../../../core/helpdesk/callback.ts'
import type { RowId } from '../../../core/ids.ts'
import type { MessagePayload } from '../../../core/outbox.ts'
import type { Fingerprints } from '../../../guard/fingerprints.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { Sender } from '../../conversations/route.ts'
import type { ChatRef } from '../send/recipients.ts'
import { noDestination } from './commands.ts'

type Deps = { fingerprints: Pick<Fingerprints, 'of'>; newId: () => RowId; clock: Clock }

type Path = {
  sender: Pick<Sender, 'name' | 'ownerTag' | 'inboxId'>
  destination: Destination | null
  ref: Pick<ChatRef, 'chatId' | 'jid'>
}

export class MessageRows {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** A row that need not wait. */
  create({ sender, destination, ref }: Path, written: WrittenMessage): NewOutboxRow {
    const { fingerprints, newId, clock } = this.#deps
    const { content, attachments, inReplyTo, agentName } = written
    return {
      id: newId(),
      kind: 'message',
      instance: sender.name,
      ownerTag: sender.ownerTag,
      inboxId: sender.inboxId,
      destination: destination?.key ?? noDestination,
      chatId: ref.chatId,
      remoteJid: ref.jid,
      conversationId: written.conversation.conversationId,
      messageId: written.messageId === 0 ? null : written.messageId,
      isWaiting: false,
      isDrained: false,
      expiresAt: null,
      fingerprint: fingerprints.of(written),
      createdAt: clock.now(),
      payload: { type: 'message', content, attachments, inReplyTo, agentName, ...interactiveParts(written) },
    }
  }
}

function interactiveParts({ choices, lacksSurveyLink }: WrittenMessage): Partial<MessagePayload> {
  return { ...(choices && { choices }), ...(lacksSurveyLink && { lacksSurveyLink }) }
}

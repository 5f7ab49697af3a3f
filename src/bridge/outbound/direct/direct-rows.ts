// Makes the outbox row of a direct message.

import type { RowId } from '../../../core/ids.ts'
import { wordsOf } from '../../../core/outbox.ts'
import type { DirectPayload } from '../../../core/outbox.ts'
import type { Fingerprints } from '../../../guard/fingerprints.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { NewOutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { Route } from '../../conversations/route.ts'
import { noDestination } from '../accept/commands.ts'
import type { NewRows } from '../accept/new-rows.ts'
import type { ChatRef } from '../send/recipients.ts'

type Deps = {
  fingerprints: Pick<Fingerprints, 'of'>
  rows: Pick<NewRows, 'waitOf'>
  newId: () => RowId
  clock: Clock
}

export class DirectRows {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  create({ sender, destination }: Route, ref: ChatRef, payload: DirectPayload): NewOutboxRow {
    const { fingerprints, rows, newId, clock } = this.#deps
    return {
      id: newId(),
      kind: 'direct',
      instance: sender.name,
      ownerTag: sender.ownerTag,
      inboxId: sender.inboxId,
      destination: destination?.key ?? noDestination,
      chatId: ref.chatId,
      remoteJid: ref.jid,
      conversationId: null,
      messageId: null,
      fingerprint: fingerprints.of(wordsOf(payload)),
      createdAt: clock.now(),
      payload,
      ...rows.waitOf(sender.name),
    }
  }
}

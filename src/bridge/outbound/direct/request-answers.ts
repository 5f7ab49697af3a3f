// Answers a request whose key was used before. The answer says what has become of the message by now; nothing is sent.

import { BridgeError } from '../../../core/errors.ts'
import type { InstanceName } from '../../../core/ids.ts'
import { writeReason } from '../../../core/reasons/reason.ts'
import type { Fingerprints } from '../../../guard/fingerprints.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { OutboxRow } from '../../../storage/stores/messages/outbox-rows.ts'
import type { OutboxStore } from '../../../storage/stores/messages/outbox-store.ts'
import type { RequestKeyStore } from '../../../storage/stores/messages/request-key-store.ts'
import type { RequestKey } from '../../../storage/stores/messages/settled-callbacks.ts'
import type { DirectAnswer } from '../accept/send-answer.ts'
import type { UndecidedRows } from '../accept/undecided-rows.ts'

type Deps = {
  requests: Pick<RequestKeyStore, 'find'>
  outbox: Pick<OutboxStore, 'find'>
  undecided: Pick<UndecidedRows, 'reopen' | 'has'>
  fingerprints: Pick<Fingerprints, 'ofText' | 'matchesText'>
  clock: Pick<Clock, 'now'>
}

export class RequestAnswers {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** `asked` is everything that makes the request another one. */
  keyOf(instance: InstanceName, requestKey: string, asked: string): RequestKey {
    return { instance, requestKey, fingerprint: this.#deps.fingerprints.ofText(asked) }
  }

  /** Undefined when the key is free. Throws SERVICE_KEY_REUSED when the key belongs to another request. */
  async find({ instance, requestKey }: RequestKey, asked: string): Promise<DirectAnswer | undefined> {
    const { requests, outbox, undecided, fingerprints, clock } = this.#deps
    const found = await requests.find(instance, requestKey, clock.now())
    // The caller was told that the message failed, and the message may be stored after all.
    if (!found || (await undecided.reopen({ id: found.rowId }))) return undefined
    // The first request was answered without an outcome, and its message is still being stored.
    if (undecided.has(found.rowId)) return { kind: 'late' }
    if (!fingerprints.matchesText(found.fingerprint, asked)) throw keyReused()
    const row = await outbox.find(found.rowId)
    return row ? answerOf(row) : { kind: 'refused', reason: writeReason('notSent') }
  }
}

function answerOf({ id: queueId, status, parts, reason, expiresAt }: OutboxRow): DirectAnswer {
  switch (status) {
    case 'pending':
    case 'sending':
      return { kind: 'queued', queueId, expiresAt }
    case 'sent':
      return { kind: 'sent', waid: parts[0]?.id ?? '', queueId }
    case 'failed':
    case 'expired':
      return { kind: 'refused', reason: reason ?? writeReason('notSent') }
    case 'refused':
      return { kind: 'blocked', reason: reason ?? writeReason('repeated') }
  }
}

function keyReused(): BridgeError {
  const sentence = 'this idempotency_key was used for another message within the last 24 hours: use a new key'
  return new BridgeError('SERVICE_KEY_REUSED', sentence)
}

// Sends messages: encodes, seals for every device, writes the stanza and waits for the server's acknowledgement.
//
// Until the stanza is written, nothing has left, and a failure says so. After that only the server's answer counts.

import type { Jid, NetworkMessageId } from '../../core/ids.ts'
import { SendError } from '../../core/network.ts'
import type { OutgoingContent, SendOptions } from '../../core/network.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import { withPausableDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import type { proto } from '../library/library.ts'
import type { Acknowledgements } from './acknowledgements.ts'
import type { MessageEncoder } from './message-encoder.ts'
import type { MessageSealer } from './message-sealer.ts'
import type { Resends } from './resends.ts'
import type { SealRequest, WithoutDeadline } from './stanza-sealer.ts'

type Deps = {
  encoder: MessageEncoder
  sealer: MessageSealer
  acknowledgements: Acknowledgements
  resends: Resends
  clock: Clock
  gone: AbortSignal
}
/** An object, so that a caller can wait for the writing without waiting for the answer. */
type Written = { answered: Promise<void>; acknowledged: (() => void) | undefined }

/** A message that is not ready in time has not left, and does not leave later. Storage or the server may be silent. */
const preparationMs = 30_000

export class MessageSender {
  readonly #deps: Deps
  readonly #chats = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** For the library, when a device asks for a message again. Rejects when the device has its answer. */
  async sentMessage(chat: Jid, id: NetworkMessageId, asking: Jid): Promise<proto.IMessage | undefined> {
    const { encoder, resends } = this.#deps
    const message = await encoder.sentMessage(chat, id)
    await resends.answer({ chat, id, asking, message })
    return message
  }

  async send(
    chat: Jid,
    content: OutgoingContent,
    id: NetworkMessageId,
    { after = Promise.resolve() }: SendOptions,
  ): Promise<void> {
    const { encoder, sealer, gone } = this.#deps
    after.catch(ignoreRejection)
    if (gone.aborted) throw lostError()
    const message = await encoder.encode(chat, content, id).catch(rethrow)
    const request = { chat, id, message }
    const { answered, acknowledged } = await this.#write(request, after).catch(rethrow)
    await answered.catch((error: unknown) => {
      if (error instanceof SendError && error.outcome === 'refused') sealer.forget(chat)
      throw error
    })
    acknowledged?.()
  }

  /** One message at a time per chat: group members can open messages only in the order in which they were sealed. */
  #write(request: SealRequest, after: Promise<unknown>): Promise<Written> {
    const { sealer, acknowledgements, clock, gone } = this.#deps
    let isTooLate = false
    const write = (withoutDeadline: WithoutDeadline) =>
      this.#chats.run(request.chat, async () => {
        if (gone.aborted) throw lostError()
        // The keys of the sealed message are committed before this resolves.
        const { stanza, written, acknowledged } = await sealer.seal(request, withoutDeadline)
        await after
        if (isTooLate) throw lateError()
        const answered = acknowledgements.send(request.id, stanza)
        answered.catch(ignoreRejection)
        written?.()
        return { answered, acknowledged }
      })
    return withPausableDeadline(clock, preparationMs, write, () => {
      isTooLate = true
      return lateError()
    })
  }
}

function rethrow(cause: unknown): never {
  if (cause instanceof SendError) throw cause
  throw notSent(cause instanceof Error ? cause.message : String(cause), cause)
}

function lostError(): SendError {
  return notSent(writeReason('connectionLost'))
}

function lateError(): SendError {
  return notSent(writeReason('notReadyInTime', { seconds: preparationMs / 1000 }))
}

function notSent(reason: string, cause?: unknown): SendError {
  return new SendError('not_sent', writeReason('unsent', { reason }), { cause })
}

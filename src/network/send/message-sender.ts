// Sends messages: encoded, sealed for everybody's devices, written, acknowledged. Only the last is "sent".
//
// Until the stanza is written nothing has left, and a failure says so; from then on only the server's word counts.

import { SendError } from '../../core/network.ts'
import type { OutgoingContent } from '../../core/network.ts'
import { withPausableDeadline } from '../../lib/clock.ts'
import { KeyedLanes } from '../../lib/keyed-lanes.ts'
import { Acknowledgements } from './acknowledgements.ts'
import { envelopeOf } from './encode-content.ts'
import { GroupResends } from './group-resends.ts'
import type { GroupMetadata, proto } from '../library/library.ts'
import { MessageEncoder } from './message-encoder.ts'
import type { SealRequest, WithoutDeadline } from './stanza-sealer.ts'
import { MessageSealer } from './message-sealer.ts'

type Deps = ConstructorParameters<typeof MessageEncoder>[0] & ConstructorParameters<typeof MessageSealer>[0]
/** In an object, so that waiting for the writing is not waiting for the answer. */
type Written = { answered: Promise<void>; acknowledged: (() => void) | undefined }

/** Storage may be away, the server silent: then the message has not left, and does not leave later. */
const preparationMs = 30_000

export class MessageSender {
  readonly #deps: Deps
  readonly #encoder: MessageEncoder
  readonly #recipients: MessageSealer
  readonly #acknowledgements: Acknowledgements
  readonly #resends: GroupResends
  readonly #chats = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#encoder = new MessageEncoder(deps)
    this.#recipients = new MessageSealer(deps)
    this.#resends = new GroupResends(deps)
    this.#acknowledgements = new Acknowledgements(deps)
  }

  rememberedGroup(jid: string): GroupMetadata | undefined {
    return this.#recipients.rememberedGroup(jid)
  }

  /** For the library, which is asked for it by a device; undefined when it is not for the library to answer. */
  async sentMessage(chat: string, id: string, asking: string): Promise<proto.IMessage | undefined> {
    const message = await this.#encoder.sentMessage(chat, id)
    return message && this.#resends.takes({ group: chat, id, asking, message }) ? undefined : message
  }

  async send(
    chat: string,
    content: OutgoingContent,
    id: string,
    released: Promise<unknown> = Promise.resolve(),
  ): Promise<void> {
    released.catch(() => undefined)
    if (this.#deps.gone.aborted) throw lostError()
    const message = await this.#encoder.encode(chat, content, id).catch(rethrow)
    const draft = { chat, id, message, envelope: envelopeOf(content) }
    const { answered, acknowledged } = await this.#write(draft, released).catch(rethrow)
    await answered.catch((error: unknown) => {
      if (error instanceof SendError && error.outcome === 'refused') this.#recipients.forget(chat)
      throw error
    })
    acknowledged?.()
  }

  /** One at a time per chat: a group's members can open messages only in the order in which they were sealed. */
  #write(draft: SealRequest, released: Promise<unknown>): Promise<Written> {
    const { clock, gone } = this.#deps
    let isTooLate = false
    const write = (withoutDeadline: WithoutDeadline) =>
      this.#chats.run(draft.chat, async () => {
        if (gone.aborted) throw lostError()
        const { stanza, written, acknowledged } = await this.#recipients.seal(draft, withoutDeadline)
        await released
        if (isTooLate) throw lateError()
        const answered = this.#acknowledgements.send(draft.id, stanza)
        answered.catch(() => undefined)
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
  return notSent('the connection was lost')
}

function lateError(): SendError {
  return notSent(`it could not be made ready within ${preparationMs / 1000} s`)
}

function notSent(reason: string, cause?: unknown): SendError {
  return new SendError('not_sent', `the message was not sent: ${reason}`, { cause })
}

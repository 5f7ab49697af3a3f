// Sends messages: encodes, seals for every device, writes the stanza and waits for the server's acknowledgement.
//
// Until the stanza is written, nothing has left, and a failure says so. After that only the server's answer counts. If the
// server refuses the address, or a device or group that is out of date, no recipient has got the message. Then it is sent
// once more under the same id: to the other address of the person, or after the network was asked again.

import type { Person } from '../../core/address.ts'
import type { Jid, NetworkMessageId } from '../../core/ids.ts'
import { SendError } from '../../core/network.ts'
import type { SendOptions, Sent } from '../../core/network.ts'
import type { OutgoingContent } from '../../core/network/outgoing-content.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import { withPausableDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import { contentOf } from '../decode/content.ts'
import { unwrap } from '../decode/unwrap.ts'
import { isJidGroup } from '../library/library.ts'
import type { BinaryNode, proto } from '../library/library.ts'
import { firstMessageRefused } from './acknowledgements.ts'
import type { Acknowledgement, Acknowledgements } from './acknowledgements.ts'
import { badAddress } from './addresses.ts'
import type { Addresses } from './addresses.ts'
import type { MessageEncoder } from './message-encoder.ts'
import type { MessageSealer } from './message-sealer.ts'
import type { Resends } from './resends.ts'
import type { SealRequest, WithoutDeadline } from './stanza-sealer.ts'

type Deps = {
  encoder: MessageEncoder
  addresses: Addresses
  sealer: MessageSealer
  acknowledgements: Acknowledgements
  resends: Resends
  clock: Clock
  gone: AbortSignal
}
/** `find` gives the address that the message goes to. `after` is the commit that it waits for. */
type Attempt = { request: SealRequest; find: () => Promise<Jid>; after: Promise<unknown> }
type Refusal = { error: SendError; address: Jid }
/** An object, so that a caller can wait for the writing without waiting for the answer. */
type Written = {
  stanza: BinaryNode
  answered: Promise<Acknowledgement>
  acknowledged: (() => void) | undefined
}

/** A message that is not ready in time has not left, and does not leave later. Storage or the server may be silent. */
const preparationMs = 30_000

/** The addressing mode of a group has changed. */
const staleAddressing = 421
/** The stanza does not fit, most often because a device or an address is out of date. */
const invalidStanza = 479
const outOfDate: ReadonlySet<number | null> = new Set([badAddress, staleAddressing, invalidStanza])

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

  /** The network has named both addresses of a person. */
  async noteAddresses(person: Person): Promise<void> {
    await this.#deps.addresses.note(person).catch(ignoreRejection)
  }

  async send(
    chat: Jid,
    content: OutgoingContent,
    id: NetworkMessageId,
    { after = Promise.resolve(), isFirst }: SendOptions,
  ): Promise<Sent> {
    const { encoder, addresses, gone } = this.#deps
    after.catch(ignoreRejection)
    if (gone.aborted) throw lostError()
    const message = await encoder.encode(chat, content, id, isFirst).catch(rethrow)
    const sent = await this.#send({ chat, id, message }, after, () => addresses.of(chat))
    return { ...sent, ...(content.type === 'file' && fileOf(message)) }
  }

  async #send(request: SealRequest, after: Promise<unknown>, find: () => Promise<Jid>): Promise<Sent> {
    const first = await this.#attempt({ request, find, after })
    if (!('error' in first)) return first
    return this.#sendAgain(request, after, first).catch((error: unknown) => {
      const isUnknown = error instanceof SendError && error.outcome === 'unknown'
      // This code may concern the whole account, so the caller hears of it, unless the message may have arrived.
      throw first.error.code === firstMessageRefused && !isUnknown ? first.error : error
    })
  }

  async #sendAgain(request: SealRequest, after: Promise<unknown>, refusal: Refusal): Promise<Sent> {
    const { addresses } = this.#deps
    const next = await this.#nextAddress(request.chat, refusal).catch(rethrow)
    if (next === undefined) throw refusal.error
    const again = await this.#attempt({ request, find: () => Promise.resolve(next), after })
    if ('error' in again) throw again.error
    if (next !== refusal.address) addresses.learn(next, refusal.error.code)
    return again
  }

  /** Resolves with the server's refusal, if it refuses the message. */
  async #attempt(attempt: Attempt): Promise<Refusal | Sent> {
    const { stanza, answered, acknowledged } = await this.#write(attempt).catch(rethrow)
    let at: number | null
    try {
      const acknowledgement = await answered
      this.#heed(stanza, acknowledgement)
      at = timeOf(acknowledgement)
    } catch (error) {
      if (!(error instanceof SendError) || error.outcome !== 'refused') throw error
      const address = stanza.attrs['to'] ?? ''
      this.#deps.sealer.forget(address)
      return { error, address }
    }
    acknowledged?.()
    return { at, ...secretOf(attempt.request) }
  }

  /** What the server says beside the acknowledgement counts for the next message. */
  #heed({ attrs }: BinaryNode, { refresh_lid: isOldLid, addressing_mode: mode }: Acknowledgement): void {
    const { addresses, sealer } = this.#deps
    const { to = '', addressing_mode: usedMode } = attrs
    if (isOldLid === 'true') addresses.refresh(to).catch(ignoreRejection)
    if (usedMode !== undefined && mode !== undefined && mode !== usedMode) sealer.forget(to)
  }

  /** Where to send a refused message once more, after everything out of date was forgotten. Undefined: the refusal is final. */
  async #nextAddress(chat: Jid, { error, address }: Refusal): Promise<Jid | undefined> {
    const { addresses, sealer } = this.#deps
    const { code } = error
    const other = code === badAddress || code === firstMessageRefused ? await addresses.otherOf(address) : undefined
    if (other !== undefined) return other
    if (!outOfDate.has(code)) return undefined
    await sealer.refresh(address)
    if (isJidGroup(address)) return address
    await addresses.refresh(address).catch(ignoreRejection)
    return addresses.of(chat)
  }

  /** One message at a time per chat: group members can open messages only in the order in which they were sealed. */
  #write({ request, find, after }: Attempt): Promise<Written> {
    const { addresses, sealer, acknowledgements, clock, gone } = this.#deps
    let isTooLate = false
    const write = (withoutDeadline: WithoutDeadline) =>
      this.#chats.run(request.chat, async () => {
        if (gone.aborted) throw lostError()
        const chat = await find()
        const envelope = { ...request.envelope, ...(await addresses.peerOf(chat)) }
        // The keys of the sealed message are committed before this resolves.
        const { stanza, written, acknowledged } = await sealer.seal({ ...request, chat, envelope }, withoutDeadline)
        await after
        if (isTooLate) throw lateError()
        const answered = acknowledgements.send(request.id, stanza)
        answered.catch(ignoreRejection)
        written?.()
        return { stanza, answered, acknowledged }
      })
    return withPausableDeadline(clock, preparationMs, write, () => {
      isTooLate = true
      return lateError()
    })
  }
}

/** Only members of groups seal their reactions. */
function secretOf({ chat, message }: SealRequest): Pick<Sent, 'secret'> {
  const secret = isJidGroup(chat) ? message.messageContextInfo?.messageSecret : undefined
  return secret ? { secret: Buffer.from(secret).toString('base64') } : {}
}

/** The file as those who receive the message read it. */
function fileOf(message: proto.IMessage): Pick<Sent, 'file'> {
  const content = contentOf(unwrap(message))
  return content?.type === 'media' ? { file: content } : {}
}

/** The server tells the time in seconds. */
function timeOf({ t }: Acknowledgement): number | null {
  const at = Number(t) * 1000
  return Number.isSafeInteger(at) && at > 0 ? at : null
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

// Sends messages and waits for the network to acknowledge each: only that is "sent".

import { SendError } from '../core/network.ts'
import type { OutgoingContent } from '../core/network.ts'
import { withDeadline } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Account } from './account.ts'
import { encodeContent, envelopeOf } from './encode-content.ts'
import { isJidGroup, jidDecode, jidEncode } from './library.ts'
import type { BinaryNode, GroupMetadata, proto, WASocket } from './library.ts'

type Deps = { socket: WASocket; account: Account; clock: Clock; gone: AbortSignal }
type Waiting = { count: number; acknowledged: PromiseWithResolvers<undefined> }

const acknowledgementMs = 15_000

export class MessageSender {
  readonly #deps: Deps
  readonly #waiting = new Map<string, Waiting>()
  readonly #groups = new Map<string, GroupMetadata>()

  constructor(deps: Deps) {
    this.#deps = deps
    deps.socket.ws.on('CB:ack,class:message', ({ attrs }: BinaryNode) => {
      const { acknowledged } = this.#waiting.get(attrs['id'] ?? '') ?? {}
      if (attrs['error'] === undefined) acknowledged?.resolve(undefined)
      else acknowledged?.reject(refusal(Number(attrs['error'])))
    })
    deps.gone.addEventListener('abort', () => {
      for (const { acknowledged } of this.#waiting.values()) acknowledged.reject(lostError())
    })
  }

  /** What was learnt of a group for a message under way; the library would ask again. */
  groupBeingSent(jid: string): GroupMetadata | undefined {
    return this.#groups.get(jid)
  }

  async send(chat: string, content: OutgoingContent, messageId: string): Promise<void> {
    const { account, gone } = this.#deps
    if (gone.aborted) throw new SendError('not_sent', 'the connection was lost before the message left')
    try {
      const message = account.sent.get(messageId) ?? this.#encode(chat, content)
      account.sent.set(messageId, message)
      await this.#findDevices(chat)
      await this.#relay(chat, message, { messageId, additionalAttributes: envelopeOf(content) })
    } catch (cause) {
      if (cause instanceof SendError) throw cause
      throw new SendError('not_sent', `the message was not sent: ${reasonOf(cause)}`, { cause })
    } finally {
      this.#groups.delete(chat)
    }
  }

  async #relay(
    chat: string,
    message: proto.IMessage,
    options: { messageId: string; additionalAttributes: Record<string, string> },
  ): Promise<void> {
    const { clock, socket } = this.#deps
    const waiting = this.#expect(options.messageId)
    try {
      const relayed = socket.relayMessage(chat, message, options)
      const both = Promise.all([relayed, waiting.acknowledged.promise])
      await withDeadline(clock, acknowledgementMs, both, lateError)
    } catch (cause) {
      if (cause instanceof SendError) throw cause
      throw new SendError('unknown', `the message may not have been sent: ${reasonOf(cause)}`, { cause })
    } finally {
      waiting.count -= 1
      if (waiting.count === 0) this.#waiting.delete(options.messageId)
    }
  }

  #encode(chat: string, content: OutgoingContent): proto.IMessage {
    if (content.type === 'file') throw new Error('files cannot be sent yet')
    return encodeContent(content, { chat, ownJid: this.#ownJid(chat), now: this.#deps.clock.now() })
  }

  #expect(messageId: string): Waiting {
    const waiting = this.#waiting.get(messageId) ?? { count: 0, acknowledged: Promise.withResolvers() }
    waiting.acknowledged.promise.catch(() => undefined)
    waiting.count += 1
    this.#waiting.set(messageId, waiting)
    return waiting
  }

  /** The library sends to the own phone alone, and calls that a success, when nobody told it the recipient's devices. */
  async #findDevices(chat: string): Promise<void> {
    const recipients = isJidGroup(chat) ? await this.#membersOf(chat) : [this.#ownJid(chat), chat]
    const devices = await this.#deps.socket.getUSyncDevices(recipients, true, false)
    const found = new Set(devices.map(({ user }) => user))
    const missing = recipients.filter((jid) => !found.has(jidDecode(jid)?.user ?? ''))
    if (missing.length > 0) throw new Error(`the network did not name the devices of ${missing.length} recipients`)
  }

  async #membersOf(group: string): Promise<string[]> {
    const metadata = await this.#deps.socket.groupMetadata(group)
    this.#groups.set(group, metadata)
    return metadata.participants.map(({ id }) => id)
  }

  /** In the addressing of the chat, as the library will ask for it: then it finds the answer in its cache. */
  #ownJid(chat: string): string {
    const { id = '', lid } = this.#deps.socket.user ?? {}
    const own = jidDecode(chat)?.server === 'lid' && lid ? lid : id
    const { user = '', server = 's.whatsapp.net' } = jidDecode(own) ?? {}
    return jidEncode(user, server)
  }
}

const restricted = 463
const tooMany = 429

function refusal(code: number): SendError {
  if (code >= 500 || code === tooMany) {
    return new SendError('not_sent', `the network could not take the message, code ${code}`, { code })
  }
  const why =
    code === restricted ? 'the account may not write to people who have not written first, for now' : 'see the code'
  return new SendError('refused', `the network refused the message with code ${code}: ${why}`, { code })
}

function lostError(): SendError {
  return new SendError('unknown', 'the connection was lost before the network acknowledged the message')
}

function lateError(): SendError {
  return new SendError('unknown', `the network did not acknowledge the message within ${acknowledgementMs / 1000} s`)
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

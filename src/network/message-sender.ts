// Sends messages and waits for the network to acknowledge each: only that is "sent".

import { withDeadline } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Account } from './account.ts'
import { isJidGroup, jidDecode, jidEncode } from './library.ts'
import type { BinaryNode, GroupMetadata, proto, WASocket } from './library.ts'
import type { SenderKeyMemory } from './sender-key-memory.ts'

type Deps = { socket: WASocket; account: Account; memory: SenderKeyMemory; clock: Clock; gone: AbortSignal }
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
      const error = attrs['error']
      if (error === undefined) acknowledged?.resolve(undefined)
      else acknowledged?.reject(new Error(`the network refused the message with code ${error}`))
    })
    deps.gone.addEventListener('abort', () => {
      for (const { acknowledged } of this.#waiting.values()) acknowledged.reject(lostError())
    })
  }

  /** What was learnt of a group for a message under way; the library would ask again. */
  groupBeingSent(jid: string): GroupMetadata | undefined {
    return this.#groups.get(jid)
  }

  async sendText(chat: string, text: string, messageId: string): Promise<void> {
    const { account, gone, memory } = this.#deps
    if (gone.aborted) throw lostError()
    const message: proto.IMessage = { extendedTextMessage: { text } }
    account.sent.set(messageId, message)
    const waiting = this.#expect(messageId)
    try {
      await memory.during(() => this.#relay(chat, message, messageId, waiting.acknowledged.promise))
    } finally {
      this.#groups.delete(chat)
      waiting.count -= 1
      if (waiting.count === 0) this.#waiting.delete(messageId)
    }
  }

  async #relay(
    chat: string,
    message: proto.IMessage,
    messageId: string,
    acknowledged: Promise<unknown>,
  ): Promise<void> {
    const { clock, socket } = this.#deps
    const relayed = this.#findDevices(chat).then(() => socket.relayMessage(chat, message, { messageId }))
    const late = () => new Error(`no acknowledgement within ${acknowledgementMs} ms`)
    await withDeadline(clock, acknowledgementMs, Promise.all([relayed, acknowledged]), late)
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

function lostError(): Error {
  return new Error('the connection was lost before the network acknowledged the message')
}

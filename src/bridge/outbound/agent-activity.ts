// What the other side sees of an agent at work: that messages were read, that somebody types, that the account is online.

import type { PerInstance } from '../../core/per-instance.ts'
import { chatJid } from '../../core/address.ts'
import type { Destination, Recipient } from '../../core/downstream.ts'
import type { NetworkSession } from '../../core/network.ts'
import type { Clock } from '../../lib/clock.ts'
import { KeyedLanes } from '../../lib/keyed-lanes.ts'
import type { Log } from '../../lib/log.ts'
import type { SentMessageStore, UnreadMessage } from '../../storage/stores/messages/sent-message-store.ts'
import { recipientChat } from './send/recipients.ts'
import type { Recipients } from './send/recipients.ts'

const onlineAfterActionMs = 2 * 60_000
const readAtOnce = 100

type Deps = {
  sent: Pick<SentMessageStore, 'unread' | 'markRead' | 'lastAddress'>
  recipients: Pick<Recipients, 'refOf'>
  sessionOf: (instance: string) => NetworkSession | undefined
  markAsRead: boolean
  typing: boolean
  presence: 'auto' | 'online' | 'never'
  clock: Clock
  log: Log
}

export class AgentActivity implements PerInstance {
  readonly #deps: Deps
  readonly #reading = new KeyedLanes()
  readonly #goingOffline = new Map<string, { at: number; cancel: () => void }>()
  readonly #online = new Map<string, NetworkSession>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Marks what was posted until then; whatever cannot be marked now is when an agent looks again. */
  seen({ key }: Destination, conversationId: number, until: number): void {
    if (!this.#deps.markAsRead) return
    this.#inBackground('messages could not be marked read', () =>
      this.#reading.run(`${key} ${conversationId}`, () => this.#markRead(key, conversationId, until)),
    )
  }

  typing(instance: string, recipient: Recipient, isTyping: boolean): void {
    const chat = recipientChat(recipient)
    const session = this.#deps.sessionOf(instance)
    if (!this.#deps.typing || !chat || !session) return
    this.#inBackground('typing could not be shown', async () => {
      const ref = await this.#deps.recipients.refOf(instance, chat)
      const address = ref.isGroup ? ref.jid : ((await this.#deps.sent.lastAddress(instance, ref.chat)) ?? chatJid(chat))
      await session.setTyping(address, isTyping)
    })
  }

  /** An agent did something on this instance, now or a while ago: it is online until 2 minutes after that. */
  acted(instance: string, at: number): void {
    const { presence, clock } = this.#deps
    const now = clock.now()
    const until = Math.min(at, now) + onlineAfterActionMs
    const current = this.#goingOffline.get(instance)
    if (presence !== 'auto' || until <= Math.max(now, current?.at ?? 0)) return
    current?.cancel()
    this.#show(instance, true)
    const cancel = clock.after(until - now, () => {
      this.#goingOffline.delete(instance)
      this.#show(instance, false)
    })
    this.#goingOffline.set(instance, { at: until, cancel })
  }

  /** A new connection starts offline: shown online again where the settings say so. */
  connected(instance: string): void {
    this.#online.delete(instance)
    if (this.#deps.presence === 'online') this.#show(instance, true)
    else if (this.#goingOffline.has(instance)) this.#show(instance, true)
  }

  leave(instance: string): void {
    this.#goingOffline.get(instance)?.cancel()
    this.#goingOffline.delete(instance)
    this.#online.delete(instance)
  }

  [Symbol.dispose](): void {
    for (const { cancel } of this.#goingOffline.values()) cancel()
  }

  #show(instance: string, available: boolean): void {
    const session = this.#deps.sessionOf(instance)
    if (!session || (this.#online.get(instance) === session) === available) return
    if (available) this.#online.set(instance, session)
    else this.#online.delete(instance)
    this.#inBackground('the account could not be shown online', () => session.setAvailable(available))
  }

  async #markRead(destination: string, conversationId: number, until: number): Promise<void> {
    const { sent, sessionOf, clock } = this.#deps
    for (;;) {
      const unread = await sent.unread(destination, conversationId, until, readAtOnce)
      const instance = unread[0]?.instance
      const session = instance === undefined ? undefined : sessionOf(instance)
      if (!session) return
      const ofOne = unread.filter((message) => message.instance === instance)
      await session.markRead(ofOne.map(({ networkKey }) => networkKey))
      await sent.markRead(idsOf(ofOne), clock.now())
      if (unread.length < readAtOnce && ofOne.length === unread.length) return
    }
  }

  #inBackground(failure: string, work: () => Promise<void>): void {
    work().catch((err: unknown) => {
      this.#deps.log.debug({ err }, failure)
    })
  }
}

function idsOf(messages: readonly UnreadMessage[]): string[] {
  return messages.map(({ id }) => id)
}

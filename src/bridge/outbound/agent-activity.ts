// Shows an agent's work on the network: read messages, typing, and the account being online.

import type { Destination } from '../../core/downstream.ts'
import type { DestinationKey, InstanceName, Jid, RowId } from '../../core/ids.ts'
import type { NetworkSession } from '../../core/network.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { KeyedLanes } from '../../lib/queues/keyed-lanes.ts'
import type { Log } from '../../lib/log.ts'
import type { SentMessageStore, UnreadMessage } from '../../storage/stores/messages/sent-message-store.ts'
import type { ChatRef, Recipients } from './send/recipients.ts'
import type { SendingAccounts } from './send/sending-accounts.ts'

const onlineAfterActionMs = 2 * 60_000
const readBatch = 100
// An agent who looks at the conversation sees a message before we have stored that it is posted.
const lookAgainMs = 2000

/** Hears where agents work, and when accounts are shown online. */
export type ActivityListener = {
  /** What an agent did earlier than that does not count. */
  readonly usedForMs: number
  /** An agent did something in the chat with this address at this time. */
  used(instance: InstanceName, address: Jid, at: number): void
  cameOnline(instance: InstanceName): void
  wentOffline(instance: InstanceName): void
}

type Deps = {
  sent: Pick<SentMessageStore, 'unread' | 'markRead' | 'lastAddress'>
  recipients: Pick<Recipients, 'knownAddressOf'>
  accounts: Pick<SendingAccounts, 'sessionOf' | 'isHere'>
  markAsRead: boolean
  typing: boolean
  presence: 'auto' | 'online' | 'never'
  listener: () => ActivityListener
  clock: Clock
  log: Log
}

export class AgentActivity implements PerInstance {
  readonly #deps: Deps
  readonly #reading = new KeyedLanes()
  readonly #goingOffline = new Map<InstanceName, { at: number; cancel: () => void }>()
  readonly #online = new Map<InstanceName, NetworkSession>()
  readonly #stop = new AbortController()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Marks the messages read that were posted until then. A failure is repaired when an agent looks again. */
  seen({ key }: Destination, conversationId: number, until: number): void {
    if (!this.#deps.markAsRead) return
    const { clock } = this.#deps
    const markRead = () =>
      this.#reading.run(`${key} ${conversationId}`, () => this.#markRead(key, conversationId, until))
    this.#inBackground('messages could not be marked read', async () => {
      const { isPosting } = await markRead()
      if (!isPosting) return
      await sleep(clock, lookAgainMs, this.#stop.signal)
      if (!this.#stop.signal.aborted) await markRead()
    })
  }

  typing(instance: InstanceName, ref: ChatRef, isTyping: boolean): void {
    const { accounts, clock } = this.#deps
    if (!this.#deps.typing) return
    this.#inBackground('typing could not be shown', async () => {
      const address = await this.#addressOf(instance, ref)
      this.usedAddress(instance, address, clock.now())
      await accounts.sessionOf(instance)?.setTyping(address, isTyping)
    })
  }

  /** An agent did something in this chat at this time. */
  used(instance: InstanceName, ref: ChatRef, at: number): void {
    const { typing, listener, clock } = this.#deps
    // Most changes of a conversation are by customers, and name the time at which an agent looked long ago.
    if (!typing || at <= clock.now() - listener().usedForMs) return
    this.#inBackground('the chat of an agent could not be noted', async () => {
      this.usedAddress(instance, await this.#addressOf(instance, ref), at)
    })
  }

  /** The same where the address of the chat is known. */
  usedAddress(instance: InstanceName, address: Jid, at: number): void {
    const { typing, accounts, listener } = this.#deps
    if (typing && accounts.isHere(instance)) listener().used(instance, address, at)
  }

  /**
   * An agent did something on this instance at this time. The account is online until 2 minutes after it. Instances that share a
   * helpdesk inbox may be on different nodes: nothing is remembered of one that is not here.
   */
  acted(instance: InstanceName, at: number): void {
    const { accounts, presence, clock } = this.#deps
    if (!accounts.isHere(instance)) return
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

  /** A new connection starts offline. The account is shown online again when it should be. */
  connected(instance: InstanceName): void {
    this.#online.delete(instance)
    if (this.#deps.presence === 'online') this.#show(instance, true)
    else if (this.#goingOffline.has(instance)) this.#show(instance, true)
  }

  leave(instance: InstanceName): void {
    this.#goingOffline.get(instance)?.cancel()
    this.#goingOffline.delete(instance)
    this.#online.delete(instance)
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
    for (const { cancel } of this.#goingOffline.values()) cancel()
  }

  #show(instance: InstanceName, available: boolean): void {
    const session = this.#deps.accounts.sessionOf(instance)
    if (!session || (this.#online.get(instance) === session) === available) return
    if (available) this.#online.set(instance, session)
    else this.#online.delete(instance)
    this.#inBackground('the account could not be shown online', async () => {
      if (!available) this.#deps.listener().wentOffline(instance)
      await session.setAvailable(available)
      if (available && this.#online.get(instance) === session) this.#deps.listener().cameOnline(instance)
    })
  }

  async #addressOf(instance: InstanceName, ref: ChatRef): Promise<Jid> {
    const { sent, recipients } = this.#deps
    const lastAddress = ref.isGroup ? undefined : await sent.lastAddress(instance, ref.chatId)
    const address = await recipients.knownAddressOf(instance, ref, { lastAddress, isKnown: true })
    return address?.jid ?? ref.jid
  }

  /** `isPosting` says that another message is being posted, which the agent may have seen. */
  async #markRead(destination: DestinationKey, conversationId: number, until: number): Promise<{ isPosting: boolean }> {
    const { sent, accounts, clock } = this.#deps
    for (;;) {
      const { messages, isPosting } = await sent.unread(destination, conversationId, until, readBatch)
      const instance = messages[0]?.instance
      const session = instance === undefined ? undefined : accounts.sessionOf(instance)
      if (instance === undefined || !session) return { isPosting }
      const ofOne = messages.filter((message) => message.instance === instance)
      await session.markRead(ofOne.map(({ networkKey }) => networkKey))
      await sent.markRead(instance, idsOf(ofOne), clock.now())
      if (messages.length < readBatch && ofOne.length === messages.length) return { isPosting }
    }
  }

  #inBackground(failure: string, work: () => Promise<void>): void {
    work().catch((err: unknown) => {
      this.#deps.log.debug({ err }, failure)
    })
  }
}

function idsOf(messages: readonly UnreadMessage[]): RowId[] {
  return messages.map(({ id }) => id)
}

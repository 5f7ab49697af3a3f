// Shows agents that a customer types or records. In a group the group is shown as typing.
//
// Everything here is best effort: after a crash Chatwoot's dashboard ends typing by itself after 30 s.

import { chatJid, lidJid, personJid, phoneJid } from '../../core/address.ts'
import type { Chat, Person } from '../../core/address.ts'
import type { InstanceName, Jid } from '../../core/ids.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import type { TypingNotice } from '../../core/realtime.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import { ChatTyping } from './chat-typing.ts'
import type { RealtimeCounts } from './realtime-counts.ts'
import type { TypingConversation, TypingRequests } from './typing-requests.ts'

type Deps = { requests: Pick<TypingRequests, 'show'>; counts: Pick<RealtimeCounts, 'count'>; clock: Clock }

type TypingChat = { chat: Chat; typing: ChatTyping }

/** How many chats of an instance can be shown as typing at the same time. */
const maxChats = 200
/** How long the end of an instance, or of the service, waits for the helpdesk. */
const lastWordMs = 1000

export class ContactTyping implements PerInstance {
  readonly #deps: Deps
  readonly #chats = new Map<InstanceName, Map<Jid, TypingChat>>()
  #isOver = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  noticed(instance: InstanceName, { chat, who, state }: TypingNotice): void {
    if (this.#isOver) return
    const chats = getOrCreate(this.#chats, instance, () => new Map<Jid, TypingChat>())
    const key = chatJid(chat)
    if (!chats.has(key) && chats.size >= maxChats) this.#deps.counts.count(instance, 'typing', 'throttled')
    else getOrCreate(chats, key, () => this.#begin(instance, key, chat)).typing.notice(personJid(who), state !== 'off')
  }

  /** A message of this person has come. */
  wrote(instance: InstanceName, chat: Chat, sender: Person): void {
    for (const one of this.#chats.get(instance)?.values() ?? []) {
      if (isSameChat(one.chat, chat)) for (const name of namesOf(sender)) one.typing.wrote(name)
    }
  }

  /** The connection has ended: the network says nothing more about the people who type. */
  connectionEnded(instance: InstanceName): void {
    for (const { typing } of this.#chats.get(instance)?.values() ?? []) typing.end()
  }

  async leave(instance: InstanceName): Promise<void> {
    const chats = [...(this.#chats.get(instance)?.values() ?? [])]
    this.#chats.delete(instance)
    await this.#finish(chats)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    const chats = [...this.#chats.values()].flatMap((each) => [...each.values()])
    this.#chats.clear()
    await this.#finish(chats)
  }

  #begin(instance: InstanceName, key: Jid, chat: Chat): TypingChat {
    const { requests, counts, clock } = this.#deps
    // As long as the chat types, its conversation is looked up once.
    let conversation: TypingConversation | undefined
    const typing = new ChatTyping({
      show: async (isTyping) => {
        const shown = await requests.show(instance, chat, isTyping, conversation)
        conversation = shown.conversation
        return shown.result
      },
      count: (result) => {
        counts.count(instance, 'typing', result)
      },
      onIdle: () => {
        this.#forget(instance, key, typing)
      },
      clock,
    })
    return { chat, typing }
  }

  #forget(instance: InstanceName, key: Jid, typing: ChatTyping): void {
    const chats = this.#chats.get(instance)
    if (chats?.get(key)?.typing !== typing) return
    chats.delete(key)
    if (chats.size === 0) this.#chats.delete(instance)
  }

  /** A slow helpdesk does not delay the end for long. */
  async #finish(chats: readonly TypingChat[]): Promise<void> {
    if (chats.length === 0) return
    const enough = new AbortController()
    const finished = Promise.all(chats.map(({ typing }) => typing.finish()))
    await Promise.race([finished, sleep(this.#deps.clock, lastWordMs, enough.signal)])
    enough.abort()
  }
}

function isSameChat(one: Chat, other: Chat): boolean {
  if (one.kind === 'group' || other.kind === 'group') return chatJid(one) === chatJid(other)
  const names = namesOf(other)
  return namesOf(one).some((name) => names.includes(name))
}

function namesOf({ phone, lid }: Person): Jid[] {
  return [...(phone === null ? [] : [phoneJid(phone)]), ...(lid === null ? [] : [lidJid(lid)])]
}

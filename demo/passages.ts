// Follows every message from the one who writes it to the one who reads it, and counts what is on its way.

import { kindOfMessage } from '../sim/network/people/received-message.ts'
import type { ReceivedMessage } from '../sim/network/people/received-message.ts'
import type { Stage } from './stage.ts'
import type { Chat, MessageKind, Passage, Tally } from './view.ts'

type Incoming = Passage & { direction: 'in'; networkId: string }
/** The id at the helpdesk is null until the helpdesk has answered the agent. */
type Outgoing = Passage & { direction: 'out'; chat: Chat; helpdeskId: number | null }

export class Passages {
  readonly #stage: Stage
  readonly #incoming: Incoming[] = []
  #outgoing: Outgoing[] = []
  #count = 0
  /** Messages on the customer's phone that belong to no passage. */
  #surplus = 0

  constructor(stage: Stage) {
    this.#stage = stage
    stage.world.helpdesk.see.subscribe(() => {
      this.#lookAtHelpdesk()
    })
    stage.maria.messages.subscribe((received) => {
      if (!received.own && received.from === stage.phone.user) this.#reachPhone(received)
    })
  }

  /** A customer has written. The helpdesk knows the message by its id at WhatsApp. */
  customerWrote(kind: MessageKind, networkId: string): Passage {
    const passage: Incoming = { ...this.#begin(kind), direction: 'in', networkId }
    this.#incoming.push(passage)
    this.#stage.changed()
    return passage
  }

  /** An agent writes: `post` gives the message to the helpdesk and returns its id there. */
  async agentWrites(kind: MessageKind, chat: Chat, post: () => Promise<number>): Promise<Passage> {
    const passage: Outgoing = { ...this.#begin(kind), direction: 'out', chat, helpdeskId: null }
    // Before the post: the message may reach the phone before the helpdesk has answered.
    this.#outgoing.push(passage)
    try {
      passage.helpdeskId = await post()
      return passage
    } catch (error) {
      this.#outgoing = this.#outgoing.filter((each) => each !== passage)
      throw error
    } finally {
      this.#lookAtHelpdesk()
    }
  }

  /** Oldest first. */
  list(): Passage[] {
    return [...this.#incoming, ...this.#outgoing].sort((one, other) => one.number - other.number)
  }

  /** Received messages are counted in the database of the helpdesk, so that a second copy shows. */
  tally(): Tally {
    const shown = new Map<string | null, number>()
    for (const { sourceId } of this.#stage.world.helpdesk.messages())
      shown.set(sourceId, (shown.get(sourceId) ?? 0) + 1)
    const copies = this.#incoming.map(({ networkId }) => shown.get(networkId) ?? 0)
    const doubled = this.#incoming.filter(({ networkId, kind }) => (shown.get(networkId) ?? 0) > noticesOf(kind))
    const wanted = this.#outgoing.filter(({ hasFailed }) => !hasFailed)
    return {
      in: { sent: copies.length, arrived: copies.filter((count) => count > 0).length },
      out: { sent: wanted.length, arrived: wanted.filter(({ arrivedAt }) => arrivedAt !== null).length },
      doubled: doubled.length + this.#stage.maria.duplicates + this.#surplus,
    }
  }

  #begin(kind: MessageKind) {
    return { number: ++this.#count, kind, startedAt: Date.now(), arrivedAt: null, hasFailed: false }
  }

  #lookAtHelpdesk(): void {
    const messages = this.#stage.world.helpdesk.messages()
    const failed = new Set(messages.filter(({ status }) => status === 'failed').map(({ id }) => id))
    const arrived = new Set(messages.map(({ sourceId }) => sourceId))
    for (const each of this.#incoming) {
      if (each.arrivedAt === null && arrived.has(each.networkId)) each.arrivedAt = Date.now()
    }
    for (const each of this.#outgoing) {
      each.hasFailed = each.arrivedAt === null && each.helpdeskId !== null && failed.has(each.helpdeskId)
    }
    this.#stage.changed()
  }

  /** The messages of a chat arrive in order, so this is the first one that has not arrived yet. */
  #reachPhone(received: ReceivedMessage): void {
    const chat = chatOf(received.chat)
    const isDeletion = kindOfMessage(received.message) === 'protocolMessage'
    const passage = this.#outgoing.find(
      (each) =>
        each.chat === chat && each.arrivedAt === null && !each.hasFailed && (each.kind === 'delete') === isDeletion,
    )
    if (passage) passage.arrivedAt = Date.now()
    else this.#surplus += 1
    this.#stage.changed()
  }
}

/** The address of a group has an ending of its own. */
export function chatOf(address: string): Chat {
  return address.endsWith('@g.us') ? 'group' : 'customer'
}

/** A call that rings and a call that was missed are two messages. */
function noticesOf(kind: MessageKind): number {
  return kind === 'call' ? 2 : 1
}

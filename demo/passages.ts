// Follows every message from the one who writes it to the one who reads it, and counts what is on its way.

import type { SeenMessage } from '../sim/helpdesk/snapshots.ts'
import { textOfMessage } from '../sim/network/people/received-message.ts'
import type { ReceivedMessage } from '../sim/network/people/received-message.ts'
import type { Stage } from './stage.ts'
import type { Chat, MessageKind, Passage, Tally } from './view.ts'

type Incoming = Passage & { direction: 'in'; networkId: string }
/** An answer, or the deletion of one. The id at WhatsApp is null until the phone has it. */
type Outgoing = Passage & { direction: 'out'; chat: Chat; helpdeskId: number; text: string; networkId: string | null }

export class Passages {
  readonly #stage: Stage
  readonly #incoming: Incoming[] = []
  readonly #outgoing: Outgoing[] = []
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

  /** The passage of the answer with this id at the helpdesk, or of its deletion. */
  ofAnswer(helpdeskId: number, isDeletion = false): Passage {
    this.#lookAtHelpdesk()
    const passage = this.#find(helpdeskId, isDeletion)
    if (!passage) throw new Error(`the helpdesk has no answer ${helpdeskId}`)
    return passage
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
    const wanted = this.#outgoing.filter(isWanted)
    return {
      in: { sent: copies.length, arrived: copies.filter((count) => count > 0).length },
      out: { sent: wanted.length, arrived: wanted.filter(({ arrivedAt }) => arrivedAt !== null).length },
      failed: this.#outgoing.filter(({ hasFailed }) => hasFailed).length,
      doubled: doubled.length + this.#stage.maria.duplicates + this.#surplus,
    }
  }

  #begin(kind: MessageKind, startedAt = Date.now()) {
    return { number: ++this.#count, kind, startedAt, arrivedAt: null, hasFailed: false, isWithdrawn: false }
  }

  #lookAtHelpdesk(): void {
    const messages = this.#stage.world.helpdesk.messages()
    const arrived = new Set(messages.map(({ sourceId }) => sourceId))
    for (const each of this.#incoming) {
      if (each.arrivedAt === null && arrived.has(each.networkId)) each.arrivedAt = Date.now()
    }
    // An answer may also be written in the whole agent's view, so the helpdesk is asked and not the page.
    for (const each of messages) if (each.messageType === 'outgoing' && !each.private) this.#follow(each)
    this.#stage.changed()
  }

  #follow(message: SeenMessage): void {
    const { id, content, status, createdAt } = message
    const isDeleted = message.contentAttributes['deleted'] === true
    const begin = (kind: MessageKind, startedAt: number): Outgoing => {
      const direction = 'out' as const
      const fresh = { ...this.#begin(kind, startedAt), direction, chat: this.#chatOf(message), helpdeskId: id }
      const passage = { ...fresh, text: content ?? '', networkId: null }
      this.#outgoing.push(passage)
      return passage
    }
    const answer = this.#find(id, false) ?? begin(kindOf(message), createdAt)
    const isOnTheWay = answer.arrivedAt === null
    answer.hasFailed = isOnTheWay && status === 'failed' && !isDeleted
    answer.isWithdrawn = isOnTheWay && isDeleted
    // A deletion of what never left the bridge has nothing to do on the phone.
    if (isDeleted) (this.#find(id, true) ?? begin('delete', Date.now())).isWithdrawn = isOnTheWay
  }

  #reachPhone(received: ReceivedMessage): void {
    this.#lookAtHelpdesk()
    const revoked = received.message.protocolMessage?.key?.id
    const passage = revoked == null ? this.#answerOf(received) : this.#deletionOf(revoked)
    if (passage) Object.assign(passage, { arrivedAt: Date.now(), networkId: received.id })
    else this.#surplus += 1
    this.#lookAtHelpdesk()
  }

  /** The service may write a text in WhatsApp's own marks. Then the order of the chat tells the answer. */
  #answerOf({ chat, message }: ReceivedMessage): Outgoing | undefined {
    const open = this.#outgoing.filter(
      (each) => each.kind !== 'delete' && each.arrivedAt === null && each.chat === chatOf(chat),
    )
    const isSame = ({ text }: Outgoing) => text === (textOfMessage(message) ?? '')
    return open.find((each) => isWanted(each) && isSame(each)) ?? open.find(isSame) ?? open.find(isWanted)
  }

  #deletionOf(networkId: string): Outgoing | undefined {
    const answer = this.#outgoing.find((each) => each.networkId === networkId)
    const deletion = answer && this.#find(answer.helpdeskId, true)
    return deletion?.arrivedAt === null ? deletion : undefined
  }

  #find(helpdeskId: number, isDeletion: boolean): Outgoing | undefined {
    return this.#outgoing.find((each) => each.helpdeskId === helpdeskId && (each.kind === 'delete') === isDeletion)
  }

  #chatOf({ conversationId }: SeenMessage): Chat {
    const { see } = this.#stage.world.helpdesk
    const [conversation] = see.conversations(({ id }) => id === conversationId)
    const [contact] = see.contacts(({ id }) => id === conversation?.contactId)
    return chatOf(contact?.identifier ?? '')
  }
}

/** The address of a group has an ending of its own. */
export function chatOf(address: string): Chat {
  return address.endsWith('@g.us') ? 'group' : 'customer'
}

function isWanted({ hasFailed, isWithdrawn }: Passage): boolean {
  return !hasFailed && !isWithdrawn
}

function kindOf({ files, contentAttributes }: SeenMessage): MessageKind {
  const [file] = files
  if (file) return file.fileType === 'audio' ? 'voice' : 'photo'
  return typeof contentAttributes['in_reply_to'] === 'number' ? 'quote' : 'text'
}

/** A call that rings and a call that was missed are two messages. */
function noticesOf(kind: MessageKind): number {
  return kind === 'call' ? 2 : 1
}

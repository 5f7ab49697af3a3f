// A network in memory that does what a test tells it: acknowledges, refuses, loses acknowledgements and connections.

import { personJid } from '../../../../src/core/address.ts'
import type { Person } from '../../../../src/core/address.ts'
import type { MessageKey } from '../../../../src/core/message.ts'
import type { GroupMember } from '../../../../src/core/group-administration.ts'
import type { GroupInfo, NetworkRestriction } from '../../../../src/core/network.ts'
import type { OutgoingContent } from '../../../../src/core/network/outgoing-content.ts'
import type { Clock } from '../../../../src/lib/clock.ts'
import { ScriptedSession } from './scripted-session.ts'

/** A message that the network took. Repeats under the same id to the same address are only counted. */
export type SentMessage = {
  instance: string
  to: string
  id: string
  content: OutgoingContent
  /** The bytes of a file. */
  bytes: Buffer | null
}

export type Customer = Person & { name: string }

/** What becomes of the next frames: refused with a code, taken without an acknowledgement, or taken and left in doubt. */
export type Fault =
  | { kind: 'ack_error'; code: number; times?: number }
  | { kind: 'lost_ack'; times?: number }
  | { kind: 'in_doubt'; times?: number }

export class ScriptedNetwork {
  readonly messages: SentMessage[] = []
  /** How often the network took a message that it already had. */
  duplicates = 0
  /** How many frames have left, refused ones included. */
  frames = 0
  /** The ids under which frames have left, refused ones included. */
  readonly frameIds = new Set<string>()
  /** The phone numbers that the bridge asked for. */
  readonly lookUps: string[] = []
  readonly reads: MessageKey[] = []
  readonly typing: { instance: string; to: string; typing: boolean }[] = []
  readonly subscriptions: { instance: string; to: string }[] = []
  readonly presences: { instance: string; available: boolean; at: number }[] = []
  /** The instances whose frames the network neither takes nor answers. */
  readonly silent = new Set<string>()
  /** What the network says about the restriction of accounts. Null: the network does not answer. */
  restriction: NetworkRestriction | null = { isActive: true, until: null }
  /** Runs when a message is made ready, before it is released. */
  whilePreparing: () => void | Promise<void> = () => undefined
  /** Runs before a frame leaves, with its number. */
  beforeFrame: (frame: number) => void = () => undefined
  /** Runs when the network has taken a frame, before it acknowledges it. */
  afterFrame: (frame: number, message: SentMessage) => void | Promise<void> = () => undefined
  /** Runs before a phone number is looked up; throws to fail the question. */
  beforeLookUp: (phone: string) => void | Promise<void> = () => undefined
  /** How far the clock of the network is ahead of ours. */
  aheadMs = 0
  readonly #clock: Clock
  readonly #people = new Map<string, Customer>()
  readonly #groups = new Map<string, GroupInfo>()
  readonly #sessions = new Map<string, ScriptedSession>()
  readonly #faults: Fault[] = []
  #ids = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get clock(): Clock {
    return this.#clock
  }

  /** The time by the clock of the network, which counts in seconds. */
  now(): number {
    return Math.floor((this.#clock.now() + this.aheadMs) / 1000) * 1000
  }

  person(facts: { phone: string; lid?: string; name?: string }): Customer {
    const lid = facts.lid ?? String(300_000_000_000_000 + this.#people.size)
    const person = { phone: facts.phone, lid, name: facts.name ?? facts.phone }
    this.#people.set(facts.phone, person)
    return person
  }

  /** The jid of a new group. */
  group(subject: string, members: readonly Customer[]): string {
    const id = `12036300000000${String(this.#groups.size).padStart(4, '0')}`
    const listed = members.map(({ phone, lid, name }): GroupMember => ({
      phone,
      lid,
      name,
      redactedPhone: null,
      role: 'member',
    }))
    this.#groups.set(id, { id, subject, members: listed })
    return `${id}@g.us`
  }

  fault(fault: Fault): void {
    for (let n = 0; n < (fault.times ?? 1); n++) this.#faults.push(fault)
  }

  connect(instance: string): ScriptedSession {
    const session = new ScriptedSession(this, instance)
    this.#sessions.set(instance, session)
    return session
  }

  /** Ends the connection; frames without an acknowledgement stay in doubt. */
  disconnect(instance: string): void {
    this.#sessions.get(instance)?.end()
    this.#sessions.delete(instance)
  }

  /** Of several connections at once, as tests see them: what was sent to one person or group. */
  to(chat: Customer | string): SentMessage[] {
    const jids = typeof chat === 'string' ? [chat] : jidsOf(chat)
    return this.messages.filter((message) => jids.includes(message.to))
  }

  nextFault(): Fault | undefined {
    return this.#faults.shift()
  }

  newId(): string {
    return `3EB0${String(++this.#ids).padStart(16, '0')}`
  }

  take(message: SentMessage): void {
    if (this.messages.some(({ id, to }) => id === message.id && to === message.to)) this.duplicates += 1
    else this.messages.push(message)
  }

  async findPerson(phone: string): Promise<Person | null> {
    this.lookUps.push(phone)
    await this.beforeLookUp(phone)
    const found = this.#people.get(phone)
    return found ? { phone: found.phone, lid: found.lid } : null
  }

  groupInfo(id: string): GroupInfo {
    const found = this.#groups.get(id)
    if (!found) throw new Error(`there is no group ${id}`)
    return found
  }
}

function jidsOf({ phone, lid }: Customer): string[] {
  return [personJid({ phone, lid: null }), ...(lid === null ? [] : [personJid({ phone: null, lid })])]
}

// Says whether a phone number has an account of the network. Answers are kept for a while, and questions to the network are
// limited: an account that asks about many numbers looks like one that searches for victims.

import type { Person } from '../../core/address.ts'
import { BridgeError } from '../../core/errors.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { NetworkSession } from '../../core/network.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import { phoneVariants } from '../../core/phone-variants.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { getOrCreate } from '../../lib/keyed.ts'
import { SingleFlight } from '../../lib/queues/single-flight.ts'
import type { People } from './people.ts'

type Deps = {
  /** Undefined while the account is not ready. */
  sessionOf: (instance: InstanceName) => Pick<NetworkSession, 'findPerson'> | undefined
  people: Pick<People, 'lookUp' | 'upsert'>
  clock: Clock
}

/** What is remembered of one instance. After the instance has left, a question under way writes into nothing. */
type Memory = {
  found: BoundedMap<Person>
  missing: BoundedMap<true>
  flights: SingleFlight
  /** When the network was asked within the last minute, oldest first. */
  askedAt: number[]
}

const minute = 60_000
const hour = 60 * minute
const questionsPerMinute = 30
/** Numbers rarely lose their account. A number without one may get it at any time. */
const keepFoundMs = 24 * hour
const keepMissingMs = hour
const maxKept = 2000

export class NumberLookup implements PerInstance {
  readonly #deps: Deps
  readonly #memories = new Map<InstanceName, Memory>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The person behind the number, in the spelling of the network; null when there is none. Callers share a question. */
  async find(instance: InstanceName, phone: string): Promise<Person | null> {
    const session = this.#deps.sessionOf(instance)
    if (!session) {
      throw new BridgeError('SERVICE_NOT_READY', 'the instance is not ready: numbers need a connection to WhatsApp')
    }
    const memory = getOrCreate(this.#memories, instance, () => this.#newMemory())
    const found = memory.found.get(phone)
    if (found) return found
    if (memory.missing.has(phone)) return null
    return memory.flights.run(phone, () => this.#ask(instance, memory, phone, session))
  }

  leave(instance: InstanceName): void {
    this.#memories.delete(instance)
  }

  #newMemory(): Memory {
    const { clock } = this.#deps
    return {
      found: new BoundedMap({ clock, max: maxKept, ttlMs: keepFoundMs }),
      missing: new BoundedMap({ clock, max: maxKept, ttlMs: keepMissingMs }),
      flights: new SingleFlight(),
      askedAt: [],
    }
  }

  async #ask(
    instance: InstanceName,
    memory: Memory,
    phone: string,
    session: Pick<NetworkSession, 'findPerson'>,
  ): Promise<Person | null> {
    for (const spelling of phoneVariants(phone)) {
      this.#takeQuestion(memory)
      const person = await findOrExplain(session, spelling)
      if (!person) continue
      await this.#note(instance, person)
      memory.found.set(phone, person)
      return person
    }
    memory.missing.set(phone, true)
    return null
  }

  #takeQuestion(memory: Memory): void {
    const now = this.#deps.clock.monotonic()
    memory.askedAt = memory.askedAt.filter((at) => at > now - minute)
    const [oldest = now] = memory.askedAt
    if (memory.askedAt.length >= questionsPerMinute) {
      const retryAfterSeconds = Math.max(1, Math.ceil((oldest + minute - now) / 1000))
      const sentence = `an instance may ask about ${questionsPerMinute} new numbers a minute: try again in ${retryAfterSeconds} s`
      throw new BridgeError('SERVICE_RATE_LIMITED', sentence, { retryAfterSeconds })
    }
    memory.askedAt.push(now)
  }

  /** As with all pairs that the network states: only for people we know already. The session has noted the pair for others. */
  async #note(instance: InstanceName, person: Person): Promise<void> {
    const { people } = this.#deps
    if (await people.lookUp(instance, person)) await people.upsert(instance, person)
  }
}

async function findOrExplain(session: Pick<NetworkSession, 'findPerson'>, phone: string): Promise<Person | null> {
  try {
    return await session.findPerson(phone)
  } catch (cause) {
    const sentence = 'WhatsApp did not say whether this number has an account: try again later'
    throw new BridgeError('SERVICE_NETWORK_FAILED', sentence, { cause })
  }
}

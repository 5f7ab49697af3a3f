// Knows the subject and the members of groups. Asks the network once an hour per group; callers that ask at the same time
// share the answer.

import type { Person } from '../../core/address.ts'
import type { GroupMember } from '../../core/group-administration.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { GroupInfo, NetworkSession } from '../../core/network.ts'
import type { PerInstance } from '../../core/per-instance.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { SingleFlight } from '../../lib/queues/single-flight.ts'

/** Undefined while the instance is not connected. */
export type SessionOf = (instance: InstanceName) => NetworkSession | undefined

type Deps = { sessionOf: SessionOf; clock: Clock; log: Log }

export type KnownGroup = { subject: string; memberOf: (person: Person) => GroupMember | undefined }

const freshMs = 3_600_000
const maxGroups = 500
const answerMs = 10_000
/** How long the network is not asked again after a failure. */
const failedMs = 60_000

export class GroupDirectory implements PerInstance {
  readonly #deps: Deps
  readonly #known: BoundedMap<KnownGroup>
  readonly #failed: BoundedMap<true>
  /** The number of the last change. An answer to an earlier question may be out of date. */
  readonly #changes: BoundedMap<number>
  #lastChange = 0
  readonly #asking = new SingleFlight()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#known = new BoundedMap({ clock: deps.clock, max: maxGroups, ttlMs: freshMs })
    this.#failed = new BoundedMap({ clock: deps.clock, max: maxGroups, ttlMs: failedMs })
    this.#changes = new BoundedMap({ clock: deps.clock, max: maxGroups, ttlMs: 2 * answerMs })
  }

  /** Null when the network cannot answer right now. */
  async find(instance: InstanceName, groupId: string): Promise<KnownGroup | null> {
    const key = keyOf(instance, groupId)
    const known = this.#known.get(key)
    if (known) return known
    const session = this.#deps.sessionOf(instance)
    if (!session || this.#failed.has(key)) return null
    const change = this.#changes.get(key) ?? 0
    return this.#asking.run(`${key}|${change}`, () => this.#ask(instance, session, groupId))
  }

  /** The group changed: the next caller asks the network. */
  forget(instance: InstanceName, groupId: string): void {
    const key = keyOf(instance, groupId)
    this.#known.delete(key)
    this.#failed.delete(key)
    this.#lastChange += 1
    this.#changes.set(key, this.#lastChange)
  }

  leave(instance: InstanceName): void {
    const isOfInstance = (key: string) => key.startsWith(`${instance}|`)
    this.#known.deleteWhere(isOfInstance)
    this.#failed.deleteWhere(isOfInstance)
    this.#changes.deleteWhere(isOfInstance)
  }

  async #ask(instance: InstanceName, session: NetworkSession, groupId: string): Promise<KnownGroup | null> {
    const key = keyOf(instance, groupId)
    const { clock, log } = this.#deps
    const change = this.#changes.get(key)
    const isCurrent = () => this.#changes.get(key) === change
    try {
      const late = () => new Error(`the network did not tell of the group within ${answerMs} ms`)
      const group = toKnown(await withDeadline(clock, answerMs, session.groupInfo(groupId), late))
      // The instance may have left while the network answered.
      if (this.#deps.sessionOf(instance) && isCurrent()) this.#known.set(key, group)
      return group
    } catch (err) {
      if (isCurrent()) this.#failed.set(key, true)
      // Without the id of the group: an old one begins with the phone number of its creator.
      log.warn({ err, instance }, 'what a group is called is not known yet')
      return null
    }
  }
}

function keyOf(instance: InstanceName, groupId: string): string {
  return `${instance}|${groupId}`
}

function toKnown({ subject, members }: GroupInfo): KnownGroup {
  const byDigits = new Map<string, GroupMember>()
  for (const member of members) {
    if (member.phone !== null) byDigits.set(member.phone, member)
    if (member.lid !== null) byDigits.set(`lid-${member.lid}`, member)
  }
  const memberOf = ({ phone, lid }: Person) =>
    (lid === null ? undefined : byDigits.get(`lid-${lid}`)) ?? (phone === null ? undefined : byDigits.get(phone))
  return { subject, memberOf }
}

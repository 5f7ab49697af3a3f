// What is known of groups: asked of the network once an hour and group, by one caller for all who want to know.

import type { PerInstance } from '../../core/per-instance.ts'
import type { Person } from '../../core/address.ts'
import type { GroupInfo, GroupMember, NetworkSession } from '../../core/network.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'

export type SessionOf = (instance: string) => NetworkSession | undefined

type Deps = { sessionOf: SessionOf; clock: Clock; log: Log }

export type KnownGroup = { subject: string; memberOf: (person: Person) => GroupMember | undefined }

const freshMs = 3_600_000
const maxGroups = 500
const answerMs = 10_000
/** After a failure the network is left in peace for so long. */
const failedMs = 60_000

export class GroupDirectory implements PerInstance {
  readonly #deps: Deps
  readonly #known: BoundedMap<KnownGroup>
  readonly #failed: BoundedMap<true>
  readonly #asking = new Map<string, Promise<KnownGroup | null>>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#known = new BoundedMap({ clock: deps.clock, max: maxGroups, ttlMs: freshMs })
    this.#failed = new BoundedMap({ clock: deps.clock, max: maxGroups, ttlMs: failedMs })
  }

  /** Null when the network cannot tell right now. */
  async find(instance: string, groupId: string): Promise<KnownGroup | null> {
    const key = `${instance}|${groupId}`
    const known = this.#known.get(key)
    if (known) return known
    const session = this.#deps.sessionOf(instance)
    if (!session || this.#failed.has(key)) return null
    const asking = this.#asking.get(key) ?? this.#ask(instance, session, groupId)
    this.#asking.set(key, asking)
    return asking
  }

  /** The group changed: the next one who wants to know asks again. */
  forget(instance: string, groupId: string): void {
    this.#known.delete(`${instance}|${groupId}`)
    this.#failed.delete(`${instance}|${groupId}`)
  }

  leave(instance: string): void {
    for (const memory of [this.#known, this.#failed]) memory.deleteWhere((key) => key.startsWith(`${instance}|`))
  }

  async #ask(instance: string, session: NetworkSession, groupId: string): Promise<KnownGroup | null> {
    const key = `${instance}|${groupId}`
    const { clock, log } = this.#deps
    try {
      const late = () => new Error(`the network did not tell of the group within ${answerMs} ms`)
      const group = toKnown(await withDeadline(clock, answerMs, session.groupInfo(groupId), late))
      this.#known.set(key, group)
      return group
    } catch (err) {
      this.#failed.set(key, true)
      // Without its id: that of an old group begins with the number of whoever made it.
      log.warn({ err, instance }, 'what a group is called is not known yet')
      return null
    } finally {
      this.#asking.delete(key)
    }
  }
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

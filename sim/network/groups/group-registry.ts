// All groups of the network, by address and by invitation.
import type { SeededRandom } from '../seeded-random.ts'
import { IqError } from '../server/iq-router.ts'
import type { Addressing, User } from '../server/user.ts'
import { SimGroup } from './sim-group.ts'
import type { SimClock } from '../../shiftable-clock.ts'

type NewGroup = { subject: string; creator: User; participants: Iterable<User>; addressing?: Addressing }

export class GroupRegistry {
  readonly #random: SeededRandom
  readonly #clock: SimClock
  readonly #groups = new Map<string, SimGroup>()

  constructor(random: SeededRandom, clock: SimClock) {
    this.#random = random
    this.#clock = clock
  }

  create({ subject, creator, participants, addressing = 'lid' }: NewGroup): SimGroup {
    const id = `1203630${this.#random.digits(11)}`
    const random = this.#random.fork(id)
    const freshId = (): string => random.hex(8)
    const group = new SimGroup({ id, subject, creator, participants, addressing, freshId, clock: this.#clock })
    this.#groups.set(group.jid, group)
    group.announceCreation()
    return group
  }

  /** Creates a community with its announcement group, in which only administrators write. */
  createCommunity(facts: NewGroup): { community: SimGroup; announcements: SimGroup } {
    const community = this.create(facts)
    community.community = { kind: 'community' }
    const announcements = this.create(facts)
    announcements.community = { kind: 'announcements', parent: community.jid }
    announcements.announce = true
    return { community, announcements }
  }

  find(jid: string): SimGroup | undefined {
    return this.#groups.get(jid)
  }

  get(jid: string | undefined): SimGroup {
    const group = jid === undefined ? undefined : this.#groups.get(jid)
    if (!group) throw new IqError(404, 'item-not-found')
    return group
  }

  byInvite(code: string | undefined): SimGroup {
    const group = [...this.#groups.values()].find((one) => one.inviteCode === code)
    if (!group) throw new IqError(406, 'not-acceptable')
    return group
  }

  of(user: User): SimGroup[] {
    return [...this.#groups.values()].filter((group) => group.roles.has(user))
  }
}

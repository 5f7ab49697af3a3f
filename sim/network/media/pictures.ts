// Profile pictures of people and groups, and the notification that a changed picture sends.
import type { SeededRandom } from '../seeded-random.ts'
import type { CompanionDevice } from '../server/companion-device.ts'
import { User } from '../server/user.ts'
import { stanza, unixSeconds } from '../wire/stanza.ts'
import type { SimClock } from '../../shiftable-clock.ts'

export type Picture = { id: string; jpeg: Buffer }
export type PictureOwner = User | PicturedGroup
type PicturedGroup = { readonly jid: string; picture: Picture | undefined; members: () => Iterable<User> }

export class Pictures {
  readonly #random: SeededRandom
  readonly #clock: SimClock
  readonly #companions: () => Iterable<CompanionDevice>

  constructor(random: SeededRandom, clock: SimClock, companions: () => Iterable<CompanionDevice>) {
    this.#random = random
    this.#clock = clock
    this.#companions = companions
  }

  /** Undefined removes the picture. */
  set(owner: PictureOwner, jpeg: Buffer | undefined, author?: User): void {
    const id = this.#random.digits(10)
    owner.picture = jpeg && { id, jpeg }
    const from = owner instanceof User ? owner.pnJid : owner.jid
    const by = author && { author: author.lidJid }
    const change = jpeg ? stanza('set', { jid: from, id, ...by }) : stanza('delete', { jid: from, ...by })
    const attributes = {
      from,
      type: 'picture',
      id: this.#random.hex(6),
      t: unixSeconds(this.#clock),
      participant: author?.lidJid,
    }
    const members = owner instanceof User ? undefined : new Set(owner.members())
    for (const device of this.#companions()) {
      // Every account sees the picture of a person. Only members see the picture of a group.
      if (members && !members.has(device.user)) continue
      device.deliver(stanza('notification', attributes, [change]))
    }
  }
}

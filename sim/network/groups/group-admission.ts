// Decides who gets into a group, and keeps personal invitations and requests to join.
import { IqError } from '../server/iq-router.ts'
import type { User } from '../server/user.ts'
import { unixSeconds } from '../wire/stanza.ts'
import type { SimClock } from '../../shiftable-clock.ts'

type Deps = { freshId: () => string; clock: SimClock }
/** `expiration` is in unix seconds. */
type Invitation = { code: string; expiration: number }

const MAX_MEMBERS = 1024
const INVITATION_SECONDS = 3 * 24 * 60 * 60

export class GroupAdmission {
  readonly #deps: Deps
  /** While true, people who use the invite link wait for an administrator. */
  needsApproval = false
  /** The people who wait, and since when in unix seconds. */
  readonly requests = new Map<User, string>()
  readonly #invitations = new Map<User, Invitation>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** 200, or the code that says why an administrator cannot add this user to a group of this size. */
  check(user: User, size: number): number {
    if (size >= MAX_MEMBERS) return 419
    if (!user.refusesGroups) return 200
    const expiration = Math.floor(this.#deps.clock.now() / 1000) + INVITATION_SECONDS
    this.#invitations.set(user, { code: this.#deps.freshId(), expiration })
    return 403
  }

  /** The invitation that the administrator got in place of the new member. */
  invitationOf(user: User): Invitation | undefined {
    return this.#invitations.get(user)
  }

  /** Uses up the personal invitation of this user. */
  accept(user: User, code: string | undefined): void {
    const invitation = this.#invitations.get(user)
    const isOver = (invitation?.expiration ?? 0) * 1000 <= this.#deps.clock.now()
    if (invitation?.code !== code || isOver) throw new IqError(406, 'not-acceptable')
    this.#invitations.delete(user)
  }

  request(user: User): void {
    if (this.requests.has(user)) throw new IqError(409, 'conflict')
    this.requests.set(user, unixSeconds(this.#deps.clock))
  }
}

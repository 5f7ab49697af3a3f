// A group: its settings, its members and their rights.
import { IqError } from '../server/iq-router.ts'
import type { GroupMembership } from '../server/message-switch.ts'
import type { Addressing, Device, User } from '../server/user.ts'
import { stanza, unixSeconds, type Attributes, type Stanza } from '../wire/stanza.ts'
import { GroupAdmission } from './group-admission.ts'
import {
  groupNode,
  namesIn,
  type CommunityPart,
  type GroupDescription,
  type GroupFacts,
  type GroupRole,
} from './group-node.ts'
import type { SimClock } from '../../shiftable-clock.ts'

export type ParticipantChange = 'add' | 'remove' | 'promote' | 'demote'
type Deps = {
  id: string
  subject: string
  creator: User
  participants: Iterable<User>
  addressing: Addressing
  freshId: () => string
  clock: SimClock
}

export class SimGroup implements GroupMembership, GroupFacts {
  readonly id: string
  readonly jid: string
  /** A test may change it: the server announces it to no client. */
  addressing: Addressing
  readonly creator: User
  readonly creation: string
  readonly roles = new Map<User, GroupRole>()
  /** Devices that get the ciphertexts although their owner is no member, as if they listened on the wire. */
  readonly listeners = new Set<Device>()
  readonly #freshId: () => string
  readonly #clock: SimClock
  subject: string
  subjectAuthor: User
  subjectTime: string
  description: GroupDescription | undefined
  locked = false
  announce = false
  ephemeralSeconds = 0
  inviteCode: string
  readonly admission: GroupAdmission
  community: CommunityPart | undefined
  picture: { id: string; jpeg: Buffer } | undefined

  constructor({ id, subject, creator, participants, addressing, freshId, clock }: Deps) {
    this.id = id
    this.jid = `${id}@g.us`
    this.addressing = addressing
    this.subject = subject
    this.subjectAuthor = creator
    this.creator = creator
    this.#freshId = freshId
    this.#clock = clock
    this.creation = unixSeconds(clock)
    this.subjectTime = this.creation
    this.inviteCode = freshId()
    this.admission = new GroupAdmission({ freshId, clock })
    this.roles.set(creator, 'superadmin')
    for (const user of participants) if (user !== creator) this.roles.set(user, 'member')
  }

  members(): Iterable<User> {
    return this.roles.keys()
  }

  isAdmin(user: User): boolean {
    const role = this.roles.get(user)
    return role === 'admin' || role === 'superadmin'
  }

  /** Where only administrators write, the other members may still react. */
  maySend(user: User, type: string | undefined): boolean {
    return this.roles.has(user) && (!this.announce || this.isAdmin(user) || type === 'reaction')
  }

  announceCreation(): void {
    this.#notify(this.creator, stanza('create', { type: 'new', key: this.#freshId() }, [groupNode(this)]))
  }

  setSubject(actor: User, subject: string): void {
    this.mayEdit(actor)
    this.subject = subject
    this.subjectAuthor = actor
    this.subjectTime = unixSeconds(this.#clock)
    this.#notify(actor, stanza('subject', { subject, s_t: this.subjectTime, s_o: actor.jid(this.addressing) }))
  }

  setDescription(actor: User, body: string | undefined, id = this.#freshId()): void {
    this.mayEdit(actor)
    this.description = body === undefined ? undefined : { id, body, author: actor, t: unixSeconds(this.#clock) }
    const content = body === undefined ? [stanza('delete')] : [stanza('body', {}, Buffer.from(body))]
    this.#notify(actor, stanza('description', { id }, content))
  }

  /** Only administrators may change subject and description. */
  setLocked(actor: User, locked: boolean): void {
    this.mustBeAdmin(actor)
    this.locked = locked
    this.#notify(actor, stanza(locked ? 'locked' : 'unlocked'))
  }

  /** Only administrators may write. */
  setAnnounce(actor: User, announce: boolean): void {
    this.mustBeAdmin(actor)
    this.announce = announce
    this.#notify(actor, stanza(announce ? 'announcement' : 'not_announcement'))
  }

  setEphemeral(actor: User, seconds: number): void {
    this.mayEdit(actor)
    this.ephemeralSeconds = seconds
    const setting = seconds > 0 ? stanza('ephemeral', { expiration: String(seconds) }) : stanza('not_ephemeral')
    this.#notify(actor, setting)
  }

  /** Returns the outcome for one member: 200, or the code of the refusal. */
  change(actor: User, action: ParticipantChange, user: User): number {
    this.mustBeAdmin(actor)
    if (action === 'add') {
      if (this.roles.has(user)) return 409
      const outcome = this.admission.check(user, this.roles.size)
      if (outcome === 200) this.#enter(actor, user)
      return outcome
    }
    const role = this.roles.get(user)
    if (!role) return 404
    if (role === 'superadmin') return 406
    if (action === 'remove') this.#remove(actor, user)
    else {
      this.roles.set(user, action === 'promote' ? 'admin' : 'member')
      this.#notify(actor, stanza(action, {}, [this.#participant(user)]))
    }
    return 200
  }

  /** Joins by the link. False when an administrator must approve the request first. */
  join(user: User): boolean {
    if (this.roles.has(user)) throw new IqError(409, 'conflict')
    if (!this.admission.needsApproval) {
      this.#enter(user, user, 'invite')
      return true
    }
    this.admission.request(user)
    const requested = stanza('requested_user', namesIn(this, user))
    const created = stanza('created_membership_requests', { request_method: 'invite_link' }, [requested])
    this.#notify(user, created, this.#administrators())
    return false
  }

  /** Joins by a personal invitation. */
  accept(user: User, code: string | undefined): void {
    this.admission.accept(user, code)
    this.#enter(user, user, 'invite')
  }

  /** People who use the link need an administrator's approval. */
  setApproval(actor: User, on: boolean): void {
    this.mustBeAdmin(actor)
    this.admission.needsApproval = on
    const mode = stanza('group_join', { state: on ? 'on' : 'off' })
    this.#notify(actor, stanza('membership_approval_mode', {}, [mode]))
  }

  /** Returns the outcome for one request: 200, or the code of the refusal. */
  decide(actor: User, action: 'approve' | 'reject', user: User): number {
    this.mustBeAdmin(actor)
    if (!this.admission.requests.delete(user)) return 404
    if (action === 'approve') this.#enter(actor, user)
    else {
      const revoked = stanza('revoked_membership_requests', {}, [this.#participant(user)])
      this.#notify(actor, revoked, this.#administrators())
    }
    return 200
  }

  leave(user: User): void {
    if (!this.roles.has(user)) throw new IqError(404, 'item-not-found')
    this.#remove(user, user)
  }

  renewInvite(actor: User): string {
    this.mustBeAdmin(actor)
    this.inviteCode = this.#freshId()
    this.#notify(actor, stanza('invite', { code: this.inviteCode }))
    return this.inviteCode
  }

  mustBeMember(user: User): void {
    if (!this.roles.has(user)) throw new IqError(403, 'forbidden')
  }

  mustBeAdmin(actor: User): void {
    this.mustBeMember(actor)
    if (!this.isAdmin(actor)) throw new IqError(401, 'not-authorized')
  }

  /** Subject, description and picture. */
  mayEdit(actor: User): void {
    this.mustBeMember(actor)
    if (this.locked && !this.isAdmin(actor)) throw new IqError(401, 'not-authorized')
  }

  /** Tells the removed member too. */
  #remove(actor: User, user: User): void {
    const audience = [...this.roles.keys()]
    const participant = this.#participant(user)
    this.roles.delete(user)
    this.#notify(actor, stanza('remove', {}, [participant]), audience)
  }

  #enter(actor: User, user: User, reason?: string): void {
    this.admission.requests.delete(user)
    this.roles.set(user, 'member')
    this.#notify(actor, stanza('add', { reason }, [this.#participant(user)]))
  }

  #administrators(): User[] {
    return [...this.roles.keys()].filter((user) => this.isAdmin(user))
  }

  #participant(user: User): Stanza {
    return stanza('participant', namesIn(this, user))
  }

  #notify(actor: User, change: Stanza, audience: Iterable<User> = this.roles.keys()): void {
    const other = this.addressing === 'lid' ? { participant_pn: actor.shownPhone } : { participant_lid: actor.lidJid }
    const attributes: Attributes = {
      from: this.jid,
      type: 'w:gp2',
      id: this.#freshId(),
      t: unixSeconds(this.#clock),
      participant: actor.jid(this.addressing),
      ...other,
      notify: actor.pushName,
      addressing_mode: this.addressing,
    }
    const node = stanza('notification', attributes, [change])
    for (const user of audience) for (const device of user.devices.values()) device.deliver(node)
  }
}

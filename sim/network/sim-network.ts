// The simulated WhatsApp: one object with the server, the accounts, the people and the groups.
import { linkedCredentials, readyPreKeys, type LinkedCredentials } from './accounts/linked-credentials.ts'
import { SimPhone } from './accounts/sim-phone.ts'
import { ChatServer, type ChatServerOptions } from './chat-server.ts'
import { streamError, type Fault, type Faults, type ImmediateFault } from './faults.ts'
import type { GroupRegistry } from './groups/group-registry.ts'
import type { SimGroup } from './groups/sim-group.ts'
import type { CertificateAuthority } from './media/certificate-authority.ts'
import type { MediaHost } from './media/media-host.ts'
import type { PictureOwner } from './media/pictures.ts'
import type { Correspondent } from './people/correspondent.ts'
import { SimNewsletter } from './people/sim-newsletter.ts'
import { SimPerson } from './people/sim-person.ts'
import { SeededRandom } from './seeded-random.ts'
import type { ClientVersions } from './server/client-versions.ts'
import type { Directory } from './server/directory.ts'
import type { IqRouter } from './server/iq-router.ts'
import type { OptionalPart } from './server/optional-parts.ts'
import type { LoggedStanza, StanzaLog } from './server/stanza-log.ts'
import type { TokenDesk } from './server/token-desk.ts'
import type { Addressing } from './server/user.ts'
import type { KeyPair } from './signal/curve.ts'
import { ShiftableClock, type SimClock } from '../shiftable-clock.ts'

export type SimNetworkOptions = ChatServerOptions & {
  seed?: string
  port?: number
  clock?: SimClock
  /** Whether accounts have moved to LIDs, unless an account says otherwise. */
  isMigrated?: boolean
  /** Whether the accounts use WhatsApp Business. */
  isBusiness?: boolean
}
export type NewAccount = {
  phone: string
  lid?: string
  name?: string
  /** Whether the account has moved to LIDs. Without it the server takes both kinds of addresses. */
  isMigrated?: boolean
  /** Whether the account uses WhatsApp Business. */
  isBusiness?: boolean
}
export type NewPerson = {
  phone: string
  lid?: string
  pushName?: string
  /** The name in the address book of every account, later accounts included. */
  savedAs?: string
  devices?: number
  hidesPhone?: boolean
  hidesLid?: boolean
}

export class SimNetwork {
  /** The default clock runs like the wall clock, and a test can move it forward. */
  readonly clock: SimClock
  readonly log: StanzaLog
  readonly router: IqRouter
  readonly faults: Faults
  readonly versions: ClientVersions
  readonly directory: Directory
  readonly groups: GroupRegistry
  readonly authority: CertificateAuthority
  readonly media: MediaHost
  readonly tokens: TokenDesk
  /** What the server answers when a client asks for its switches. */
  readonly abProps: Map<string, string>
  readonly #server: ChatServer
  readonly #random: SeededRandom
  readonly #phones = new Map<string, SimPhone>()
  readonly #people = new Map<string, SimPerson>()
  readonly #savedPeople = new Map<SimPerson, string>()
  readonly #isMigrated: boolean | undefined
  readonly #isBusiness: boolean
  #preKeys: KeyPair[] | undefined
  #newsletters = 0

  private constructor(settings: SimNetworkOptions) {
    const { seed = 'causeway', clock = new ShiftableClock(), isMigrated, isBusiness, ...options } = settings
    this.clock = clock
    this.#isMigrated = isMigrated
    this.#isBusiness = isBusiness ?? false
    this.#random = new SeededRandom(seed)
    this.#server = new ChatServer({ random: this.#random, clock, options, phones: this.#phones })
    this.log = this.#server.log
    this.router = this.#server.router
    this.faults = this.#server.faults
    this.versions = this.#server.versions
    this.directory = this.#server.directory
    this.groups = this.#server.groups
    this.authority = this.#server.authority
    this.media = this.#server.media
    this.tokens = this.#server.tokens
    this.abProps = this.#server.abProps
  }

  static async start(options: SimNetworkOptions = {}): Promise<SimNetwork> {
    const network = new SimNetwork(options)
    await network.media.open()
    await network.#server.door.open(options.port ?? 0)
    return network
  }

  get url(): string {
    return this.#server.door.url
  }

  /** Login attempts of linked devices. Refused attempts count. */
  get loginAttempts(): number {
    return this.#server.door.logins
  }

  /** The key that clients must trust in place of the real root key. */
  get rootKey(): Buffer {
    return this.#server.identity.rootKey
  }

  /** Creates an account with its primary phone and no linked device. */
  account({ phone, lid, name = 'Owner', isMigrated = this.#isMigrated, isBusiness }: NewAccount): SimPhone {
    const { parts, pairing: office } = this.#server
    const user = this.directory.register(phone, lid, name)
    user.isMigrated = isMigrated
    const sim = new SimPhone({ user, parts, random: this.#random.fork(phone), office })
    sim.isBusiness = isBusiness ?? this.#isBusiness
    this.#phones.set(phone, sim)
    for (const [person, saved] of this.#savedPeople) sim.saveContact(person, saved)
    return sim
  }

  /** Links a companion without pairing. The returned credentials log in at once. */
  linkReady(phone: SimPhone): LinkedCredentials {
    const deviceId = phone.claimDeviceId()
    const random = this.#random.fork(`${phone.user.phone} companion ${deviceId}`)
    this.#preKeys ??= readyPreKeys(this.#random.fork('ready prekeys'))
    const { credentials, serverKeys } = linkedCredentials(phone, deviceId, random, this.#preKeys)
    this.#server.addCompanion(phone, deviceId, serverKeys).onboarded = true
    return credentials
  }

  person({ phone, lid, pushName = `Person ${phone.slice(-4)}`, ...more }: NewPerson): SimPerson {
    const { savedAs, devices = 1, hidesPhone = false, hidesLid = false } = more
    const user = this.directory.register(phone, lid, pushName)
    Object.assign(user, { hidesPhone, hidesLid })
    const person = new SimPerson({ user, parts: this.#server.parts, random: this.#random.fork(phone), devices })
    this.#people.set(phone, person)
    if (savedAs === undefined) return person
    this.#savedPeople.set(person, savedAs)
    for (const one of this.#phones.values()) one.saveContact(person, savedAs)
    return person
  }

  group(subject: string, creator: Correspondent, members: Correspondent[], addressing: Addressing = 'lid'): SimGroup {
    const participants = members.map((one) => one.user)
    return this.groups.create({ subject, creator: creator.user, participants, addressing })
  }

  /** Creates a community. The members are members of its announcement group too. */
  community(subject: string, creator: Correspondent, members: Correspondent[]) {
    const participants = members.map((one) => one.user)
    return this.groups.createCommunity({ subject, creator: creator.user, participants })
  }

  /** Creates a channel that these accounts follow. */
  newsletter(...followers: SimPhone[]): SimNewsletter {
    this.#newsletters += 1
    const random = this.#random.fork(`newsletter ${this.#newsletters}`)
    return new SimNewsletter({ random, clock: this.clock, followers })
  }

  /** No client gets these parts of messages any more, as on a real network that leaves them out. */
  omit(...parts: OptionalPart[]): void {
    for (const part of parts) this.#server.parts.messages.parts.omitted.add(part)
  }

  /** Sets the profile picture of a person, an account or a group. Undefined removes it. */
  setPicture(owner: Correspondent | SimGroup, jpeg: Buffer | undefined): void {
    const target: PictureOwner = 'user' in owner ? owner.user : owner
    this.#server.pictures.set(target, jpeg)
  }

  phone(number: string): SimPhone | undefined {
    return this.#phones.get(number)
  }

  personAt(number: string): SimPerson | undefined {
    return this.#people.get(number)
  }

  people(): SimPerson[] {
    return [...this.#people.values()]
  }

  waitForStanza(tag: string, matches: (one: LoggedStanza) => boolean, timeoutMs?: number): Promise<LoggedStanza> {
    return this.log.waitFor(tag, matches, timeoutMs)
  }

  /** Adds a fault that strikes at the next fitting step. */
  fault(fault: Fault): void {
    this.faults.add(fault)
    if (fault.kind !== 'delay') return
    for (const { connection } of this.#server.companions(fault.account)) if (connection) connection.delayMs = fault.ms
  }

  async strike(fault: ImmediateFault): Promise<void> {
    if (fault.kind === 'server_restart') {
      await this.restart()
      return
    }
    for (const { connection } of this.#server.companions(fault.account)) {
      if (fault.kind === 'stream_error') connection?.end(streamError(fault.reason))
      else if (fault.kind === 'silence') connection?.goSilent()
      else connection?.drop()
    }
  }

  clearFaults(): void {
    for (const { device, node } of this.faults.clear()) device.deliver(node)
    for (const { connection } of this.#server.companions()) if (connection) connection.delayMs = 0
  }

  /** Drops all sockets. A moment later the same port accepts connections again, and no state is lost. */
  async restart(): Promise<void> {
    await this.goAway()
    await this.comeBack()
  }

  /** Drops all sockets and refuses connections until `comeBack`. No state is lost. */
  async goAway(): Promise<void> {
    await this.#server.door.close()
  }

  /** The same port accepts connections again. */
  async comeBack(): Promise<void> {
    const { door } = this.#server
    await door.open(door.port)
  }

  /** Fails when a client sent something that the simulator does not understand, or broke a rule of the network. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.door.close()
    await this.media[Symbol.asyncDispose]()
    const problems = this.log.takeProblems()
    if (problems.length > 0) throw new Error(`the simulator did not understand:\n${problems.join('\n')}`)
    const violations = this.log.takeViolations()
    if (violations.length === 0 || this.log.areViolationsAllowed) return
    throw new Error(`a client broke rules of the network:\n${violations.join('\n')}`)
  }
}

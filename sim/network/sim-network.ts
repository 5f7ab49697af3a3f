// The simulated WhatsApp: one object that holds the server, the accounts, the people and the groups.
import { appStateAnswers } from './accounts/app-state.ts'
import { linkedCredentials, readyPreKeys, type LinkedCredentials } from './accounts/linked-credentials.ts'
import { PairingDesk } from './accounts/pairing-desk.ts'
import { SimPhone } from './accounts/sim-phone.ts'
import { Faults, streamError, type Fault, type ImmediateFault } from './faults.ts'
import { groupAnswers } from './groups/group-answers.ts'
import { GroupRegistry } from './groups/group-registry.ts'
import type { SimGroup } from './groups/sim-group.ts'
import { CertificateAuthority } from './media/certificate-authority.ts'
import { mediaAnswers, type Picture } from './media/media-answers.ts'
import { MediaHost } from './media/media-host.ts'
import type { Correspondent, NetworkParts } from './people/correspondent.ts'
import { SimPerson } from './people/sim-person.ts'
import { SeededRandom } from './seeded-random.ts'
import { ClientDesk } from './server/client-desk.ts'
import { CompanionDevice, type CompanionKeys } from './server/companion-device.ts'
import { Directory } from './server/directory.ts'
import { FrontDoor } from './server/front-door.ts'
import { IqRouter } from './server/iq-router.ts'
import { keyAnswers } from './server/key-answers.ts'
import { MessageSwitch } from './server/message-switch.ts'
import { ReceiptSwitch } from './server/receipt-switch.ts'
import { sessionAnswers } from './server/session-answers.ts'
import { StanzaLog, type LoggedStanza } from './server/stanza-log.ts'
import type { Addressing } from './server/user.ts'
import { usyncAnswers } from './server/usync-answers.ts'
import type { KeyPair } from './signal/curve.ts'
import { ServerIdentity } from './wire/server-identity.ts'
import { stanza, unixSeconds } from './wire/stanza.ts'

export type SimNetworkOptions = {
  seed?: string
  port?: number
  /** How people address one-to-one chats unless a message says otherwise. */
  addressing?: Addressing
  qrRefs?: number
  qrRotationMs?: number
  /** How many stanzas the log keeps; 0 switches it off. */
  logLimit?: number
}
export type NewAccount = { phone: string; lid?: string; name?: string }
/** `savedAs` puts the person into the address book of every account, those that come later included. */
export type NewPerson = { phone: string; lid?: string; pushName?: string; savedAs?: string; devices?: number }

export class SimNetwork {
  readonly log: StanzaLog
  readonly router: IqRouter
  readonly faults = new Faults()
  readonly directory: Directory
  readonly groups: GroupRegistry
  readonly identity: ServerIdentity
  readonly authority: CertificateAuthority
  readonly media: MediaHost
  readonly #random: SeededRandom
  readonly #options: SimNetworkOptions
  readonly #door: FrontDoor
  readonly #desk: PairingDesk
  readonly #parts: NetworkParts
  readonly #phones = new Map<string, SimPhone>()
  readonly #people = new Map<string, SimPerson>()
  #preKeys: KeyPair[] | undefined
  readonly #savedPeople = new Map<SimPerson, string>()

  constructor(options: SimNetworkOptions = {}) {
    this.#options = options
    this.#random = new SeededRandom(options.seed ?? 'causeway')
    this.log = new StanzaLog(options.logLimit ?? 5_000)
    this.router = new IqRouter(this.log)
    this.identity = new ServerIdentity(this.#random.fork('server'))
    this.directory = new Directory(this.#random.fork('lids'))
    this.groups = new GroupRegistry(this.#random.fork('groups'))
    this.authority = new CertificateAuthority(this.#random.fork('certificates'))
    this.media = new MediaHost(this.authority, this.#random.fork('media'))
    this.#desk = new PairingDesk({
      random: this.#random.fork('pairing'),
      refs: options.qrRefs ?? 6,
      rotationMs: options.qrRotationMs ?? 20_000,
      complain: this.log.complain.bind(this.log),
      link: this.#addCompanion.bind(this),
    })
    this.#parts = this.#makeParts()
    this.#door = this.#makeDoor()
  }

  static async start(options: SimNetworkOptions = {}): Promise<SimNetwork> {
    const network = new SimNetwork(options)
    await network.media.open()
    await network.#door.open(options.port ?? 0)
    return network
  }

  get url(): string {
    return this.#door.url
  }

  /** What clients must trust instead of the real root key. */
  get rootKey(): Buffer {
    return this.identity.rootKey
  }

  /** An account with its primary phone; not linked to anything yet. */
  account({ phone, lid, name = 'Owner' }: NewAccount): SimPhone {
    const user = this.directory.register(phone, lid, name)
    const sim = new SimPhone({ user, parts: this.#parts, random: this.#random.fork(phone), office: this.#desk })
    this.#phones.set(phone, sim)
    for (const [person, saved] of this.#savedPeople) sim.saveContact(person, saved)
    return sim
  }

  /** A companion that needs no pairing: the credentials log in at once. */
  linkReady(phone: SimPhone): LinkedCredentials {
    const deviceId = phone.claimDeviceId()
    const random = this.#random.fork(`${phone.user.phone} companion ${deviceId}`)
    this.#preKeys ??= readyPreKeys(this.#random.fork('ready prekeys'))
    const { credentials, serverKeys } = linkedCredentials(phone, deviceId, random, this.#preKeys)
    this.#addCompanion(phone, deviceId, serverKeys).onboarded = true
    return credentials
  }

  person({ phone, lid, pushName = `Person ${phone.slice(-4)}`, savedAs, devices = 1 }: NewPerson): SimPerson {
    const user = this.directory.register(phone, lid, pushName)
    const person = new SimPerson({ user, parts: this.#parts, random: this.#random.fork(phone), devices })
    this.#people.set(phone, person)
    if (savedAs === undefined) return person
    this.#savedPeople.set(person, savedAs)
    for (const one of this.#phones.values()) one.saveContact(person, savedAs)
    return person
  }

  group(subject: string, creator: Correspondent, participants: Correspondent[], addressing?: Addressing): SimGroup {
    const users = participants.map((one) => one.user)
    return this.groups.create({
      subject,
      creator: creator.user,
      participants: users,
      ...(addressing ? { addressing } : {}),
    })
  }

  /** A profile picture of a person, an account or a group; undefined takes it away. */
  setPicture(owner: { picture: Picture | undefined }, jpeg: Buffer | undefined): void {
    owner.picture = jpeg && { id: this.#random.digits(10), jpeg }
  }

  phone(number: string): SimPhone | undefined {
    return this.#phones.get(number)
  }

  personAt(number: string): SimPerson | undefined {
    return this.#people.get(number)
  }

  waitForStanza(tag: string, matches: (one: LoggedStanza) => boolean, timeoutMs?: number): Promise<LoggedStanza> {
    return this.log.waitFor(tag, matches, timeoutMs)
  }

  /** Waits in ambush until its moment comes. */
  fault(fault: Fault): void {
    this.faults.add(fault)
    if (fault.kind !== 'delay') return
    for (const device of this.#companions(fault.account)) if (device.connection) device.connection.delayMs = fault.ms
  }

  /** Strikes now. */
  async strike(fault: ImmediateFault): Promise<void> {
    if (fault.kind === 'server_restart') {
      await this.restart()
      return
    }
    for (const { connection } of this.#companions(fault.account)) {
      if (fault.kind === 'stream_error') connection?.end(streamError(fault.reason))
      else if (fault.kind === 'silence') connection?.goSilent()
      else connection?.drop()
    }
  }

  clearFaults(): void {
    for (const { device, node } of this.faults.clear()) device.deliver(node)
    for (const { connection } of this.#companions(undefined)) if (connection) connection.delayMs = 0
  }

  /** All sockets drop; the same port answers again a moment later, with everything remembered. */
  async restart(): Promise<void> {
    const { port } = this.#door
    await this.#door.close()
    await this.#door.open(port)
  }

  /** Fails when clients sent what the simulator does not understand. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#door.close()
    await this.media[Symbol.asyncDispose]()
    const problems = this.log.takeProblems()
    if (problems.length > 0) throw new Error(`the simulator did not understand:\n${problems.join('\n')}`)
  }

  #companions(account: string | undefined): CompanionDevice[] {
    const phones = account === undefined ? [...this.#phones.values()] : [this.#phones.get(account)]
    return phones.flatMap((phone) => phone?.companions ?? [])
  }

  #addCompanion(phone: SimPhone, id: number, keys: CompanionKeys): CompanionDevice {
    const random = this.#random.fork(`${phone.user.phone} device ${id}`)
    const filter = this.faults.filter.bind(this.faults)
    const device = new CompanionDevice({ user: phone.user, id, keys, random, filter })
    phone.user.devices.set(id, device)
    return device
  }

  #makeParts(): NetworkParts {
    const { directory, groups, faults } = this
    const findGroup = groups.find.bind(groups)
    return {
      directory,
      findGroup,
      messages: new MessageSwitch({ directory, findGroup }),
      receipts: new ReceiptSwitch({
        directory,
        groupAddressing: (jid) => groups.find(jid)?.addressing ?? 'lid',
        isLost: (device) => faults.strike('lost_receipt', device.user.phone) !== undefined,
      }),
      media: this.media,
      addressing: this.#options.addressing ?? 'pn',
    }
  }

  #makeDoor(): FrontDoor {
    const { directory, faults, log, router, groups } = this
    const onReady = this.#handOver.bind(this)
    const desk = new ClientDesk({ router, faults, log, onReady, ...this.#parts })
    router.addDefaults({
      ...sessionAnswers({ onActive: this.#activate.bind(this), onRemoveCompanion: this.#unlink.bind(this) }),
      ...keyAnswers(directory),
      ...usyncAnswers(directory),
      ...groupAnswers({ groups, directory }),
      ...appStateAnswers((phone) => this.#phones.get(phone)),
      ...mediaAnswers({ host: this.media, directory, groups, setPicture: this.setPicture.bind(this) }),
    })
    return new FrontDoor({
      identity: this.identity,
      random: this.#random.fork('connections'),
      directory,
      faults,
      log,
      pairing: this.#desk,
      onStanza: desk.receive.bind(desk),
      onOffline: (device) => {
        this.#report(device, 'offline')
      },
    })
  }

  #activate(device: CompanionDevice): void {
    const waiting = String(device.books.size)
    if (device.books.size > 0) {
      const preview = stanza('offline_preview', { count: waiting, message: waiting, receipt: '0', notification: '0' })
      device.connection?.send(stanza('ib', { from: 's.whatsapp.net', t: unixSeconds() }, [preview]))
    } else this.#handOver(device)
  }

  #handOver(device: CompanionDevice): void {
    device.handOverBacklog()
    this.#report(device, 'online')
    if (!device.onboarded) this.#phones.get(device.user.phone)?.onboard(device)
  }

  #unlink(device: CompanionDevice): void {
    this.#phones.get(device.user.phone)?.removeCompanion(device)
  }

  #report(device: CompanionDevice, state: 'online' | 'offline'): void {
    this.#phones.get(device.user.phone)?.companionEvents.add({ device: device.id, state, at: Date.now() })
  }
}

// Assembles the simulated server from its parts: directory, routing, query answers, pairing and delivery.
import { appStateAnswers } from './accounts/app-state.ts'
import type { HistoryWish } from './accounts/history-wish.ts'
import { PairingDesk } from './accounts/pairing-desk.ts'
import type { SimPhone } from './accounts/sim-phone.ts'
import { Faults } from './faults.ts'
import { groupAnswers } from './groups/group-answers.ts'
import { GroupRegistry } from './groups/group-registry.ts'
import { CertificateAuthority } from './media/certificate-authority.ts'
import { mediaAnswers } from './media/media-answers.ts'
import { MediaHost } from './media/media-host.ts'
import { Pictures } from './media/pictures.ts'
import type { NetworkParts } from './people/network-parts.ts'
import type { SeededRandom } from './seeded-random.ts'
import { ClientDesk } from './server/client-desk.ts'
import { ClientVersions } from './server/client-versions.ts'
import { CompanionDevice, type CompanionKeys, type DeliveryOptions } from './server/companion-device.ts'
import { DeviceWatch } from './server/device-watch.ts'
import { Directory } from './server/directory.ts'
import { FrontDoor } from './server/front-door.ts'
import { IqRouter } from './server/iq-router.ts'
import { keyAnswers } from './server/key-answers.ts'
import { MessageSwitch, type GroupMembership } from './server/message-switch.ts'
import { ReceiptSwitch } from './server/receipt-switch.ts'
import { sessionAnswers } from './server/session-answers.ts'
import { StanzaLog } from './server/stanza-log.ts'
import { TokenDesk } from './server/token-desk.ts'
import type { Addressing, User } from './server/user.ts'
import { usyncAnswers } from './server/usync-answers.ts'
import { SERVER_JID, STATUS_JID } from './wire/jid.ts'
import { ServerIdentity } from './wire/server-identity.ts'
import { stanza, unixSeconds } from './wire/stanza.ts'
import type { SimClock } from '../shiftable-clock.ts'

export type ChatServerOptions = DeliveryOptions & {
  /** How people address one-to-one chats. A message can choose another way. */
  addressing?: Addressing
  qrRefs?: number
  qrRotationMs?: number
  /** How many stanzas the log keeps. 0 switches the log off. */
  logLimit?: number
}
type Deps = { random: SeededRandom; clock: SimClock; options: ChatServerOptions; phones: ReadonlyMap<string, SimPhone> }

export class ChatServer {
  readonly log: StanzaLog
  readonly router: IqRouter
  readonly faults = new Faults()
  readonly versions = new ClientVersions()
  readonly identity: ServerIdentity
  readonly directory: Directory
  readonly groups: GroupRegistry
  readonly authority: CertificateAuthority
  readonly media: MediaHost
  readonly pictures: Pictures
  readonly watch: DeviceWatch
  readonly tokens: TokenDesk
  /** 10518: messages carry privacy tokens. 9666: so do questions for pictures. 14303: tokens are issued to the LID. */
  readonly abProps = new Map([
    ['10518', '1'],
    ['9666', '1'],
    ['14303', '0'],
  ])
  readonly parts: NetworkParts
  readonly pairing: PairingDesk
  readonly door: FrontDoor
  readonly #random: SeededRandom
  readonly #clock: SimClock
  readonly #phones: ReadonlyMap<string, SimPhone>
  readonly #delivery: DeliveryOptions

  constructor({ random, clock, options, phones }: Deps) {
    this.#random = random
    this.#clock = clock
    this.#phones = phones
    this.#delivery = options
    this.log = new StanzaLog(options.logLimit ?? 5_000, clock)
    this.router = new IqRouter(this.log)
    this.identity = new ServerIdentity(random.fork('server'))
    this.directory = new Directory(random.fork('lids'))
    this.groups = new GroupRegistry(random.fork('groups'), clock)
    this.authority = new CertificateAuthority(random.fork('certificates'))
    this.media = new MediaHost(this.authority, random.fork('media'))
    this.pictures = new Pictures(random.fork('pictures'), clock, () => this.companions())
    this.watch = new DeviceWatch(random.fork('devices'), clock)
    const violate = this.log.violate.bind(this.log)
    this.tokens = new TokenDesk({ directory: this.directory, random: random.fork('tokens'), clock, violate })
    this.pairing = new PairingDesk({
      random: random.fork('pairing'),
      clock,
      refs: options.qrRefs ?? 6,
      rotationMs: options.qrRotationMs ?? 20_000,
      complain: this.log.complain.bind(this.log),
      link: this.addCompanion.bind(this),
    })
    this.parts = this.#makeParts(options.addressing ?? 'pn')
    this.#addAnswers()
    this.door = this.#makeDoor()
  }

  addCompanion(phone: SimPhone, id: number, keys: CompanionKeys, wish?: HistoryWish): CompanionDevice {
    const random = this.#random.fork(`${phone.user.phone} device ${id}`)
    const filter = this.faults.filter.bind(this.faults)
    const options = this.#delivery
    const device = new CompanionDevice({ user: phone.user, id, keys, random, clock: this.#clock, filter, options })
    if (wish) device.historyWish = wish
    phone.user.devices.set(id, device)
    this.watch.tell(device, 'add')
    return device
  }

  /** The linked clients of one account, or of all accounts. */
  companions(account?: string): CompanionDevice[] {
    const phones = account === undefined ? [...this.#phones.values()] : [this.#phones.get(account)]
    return phones.flatMap((phone) => phone?.companions ?? [])
  }

  #makeParts(addressing: Addressing): NetworkParts {
    const { directory, groups, faults, media } = this
    const clock = this.#clock
    const findGroup = (jid: string): GroupMembership | undefined =>
      jid === STATUS_JID ? this.#statusAudience() : groups.find(jid)
    const receipts = new ReceiptSwitch({
      directory,
      clock,
      groupAddressing: (jid) => groups.find(jid)?.addressing ?? 'lid',
      isLost: (device) => faults.strike('lost_receipt', device.user.phone) !== undefined,
    })
    const { tokens } = this
    const messages = new MessageSwitch({ directory, clock, findGroup, onPersonal: tokens.noteMessage.bind(tokens) })
    const companions = this.companions.bind(this)
    const onDeviceChange = this.watch.tell.bind(this.watch)
    const complain = this.log.complain.bind(this.log)
    const violate = this.log.violate.bind(this.log)
    const routes = { findGroup, messages, receipts, media, addressing }
    return { clock, directory, ...routes, tokens, companions, onDeviceChange, complain, violate }
  }

  /** A status update reaches every account: on this network every account has every author as a contact. */
  #statusAudience(): GroupMembership {
    const members = (): User[] => [...this.#phones.values()].map((phone) => phone.user)
    return { jid: STATUS_JID, addressing: 'lid', members, maySend: () => true }
  }

  #addAnswers(): void {
    const { directory, groups, router, media, pictures } = this
    const onRemoveCompanion = (device: CompanionDevice): void => {
      this.#phones.get(device.user.phone)?.removeCompanion(device)
    }
    router.addDefaults({
      ...sessionAnswers({ abProps: this.abProps, onActive: this.#activate.bind(this), onRemoveCompanion }),
      ...keyAnswers(directory),
      ...this.tokens.answers,
      ...usyncAnswers(directory, this.watch),
      ...groupAnswers({ groups, directory }),
      ...appStateAnswers((phone) => this.#phones.get(phone)),
      ...mediaAnswers({ host: media, directory, groups, pictures }),
    })
  }

  #makeDoor(): FrontDoor {
    const { directory, versions, faults, log, router, pairing, identity } = this
    const desk = new ClientDesk({ router, faults, log, handOver: this.#handOver.bind(this), ...this.parts })
    return new FrontDoor({
      identity,
      random: this.#random.fork('connections'),
      directory,
      versions,
      faults,
      log,
      clock: this.#clock,
      pairing,
      onStanza: desk.receive.bind(desk),
      onOffline: (device) => {
        this.#report(device, 'offline')
      },
    })
  }

  /** Announces the waiting stanzas to a client that is now active. The client then asks for them. */
  #activate(device: CompanionDevice): void {
    device.isActive = true
    if (device.books.size === 0) {
      this.#handOver(device)
      return
    }
    const waiting = device.books.pending()
    const count = (tag: string): string => String(waiting.filter((node) => node.tag === tag).length)
    const preview = stanza('offline_preview', {
      count: String(waiting.length),
      message: count('message'),
      receipt: count('receipt'),
      notification: count('notification'),
      call: count('call'),
      status: count('status'),
    })
    device.connection?.send(stanza('ib', { from: SERVER_JID, t: unixSeconds(this.#clock) }, [preview]))
  }

  #handOver(device: CompanionDevice): void {
    if (!device.handOverBacklog()) return
    if (!this.faults.strike('lost_backlog_end', device.user.phone)) device.announceBacklogEnd()
    this.#report(device, 'online')
    if (!device.onboarded) this.#phones.get(device.user.phone)?.onboard(device)
  }

  #report(device: CompanionDevice, state: 'online' | 'offline'): void {
    this.#phones.get(device.user.phone)?.companionEvents.add({ device: device.id, state, at: this.#clock.now() })
  }
}

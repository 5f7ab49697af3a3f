// The primary phone of an account: it links and unlinks companions, writes, and reads.
import { EventLog } from '../../event-log.ts'
import type { proto } from '../library.ts'
import { renewMedia } from '../media/media-renewal.ts'
import { chatOf, type Recipient } from '../people/author.ts'
import type { Correspondent } from '../people/correspondent.ts'
import { FileAuthor } from '../people/file-author.ts'
import type { LocalDevice } from '../people/local-device.ts'
import type { NetworkParts } from '../people/network-parts.ts'
import { kindOfMessage, type ReceivedMessage } from '../people/received-message.ts'
import type { ChatTarget, SendOptions, SentMessage } from '../people/sent-message.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { CompanionDevice } from '../server/companion-device.ts'
import { disappearingMode } from '../server/usync-answers.ts'
import { User } from '../server/user.ts'
import { writeFields } from '../signal/protobuf.ts'
import { STATUS_JID } from '../wire/jid.ts'
import { stanza, unixSeconds, type Stanza } from '../wire/stanza.ts'
import type { Mutation } from './app-state-cipher.ts'
import { AppState, type Collection } from './app-state.ts'
import type { PastMessage } from './archived-message.ts'
import { ChatArchive, type ChatForm } from './chat-archive.ts'
import { companionAnswers } from './companion-answers.ts'
import { keyShare, type HistoryChunk } from './history.ts'
import { mappingSync } from './lid-migration.ts'
import { PhoneHistory } from './phone-history.ts'
import { PhoneLabels } from './phone-labels.ts'

type CompanionState = 'online' | 'offline' | 'unlinked'
export type CompanionEvent = { device: number; state: CompanionState; at: number }
export interface CompanionOffice {
  scan(phone: SimPhone, qr: string): Promise<number>
  link(phone: SimPhone, code: string): Promise<number>
}
type Deps = { user: User; parts: NetworkParts; random: SeededRandom; office: CompanionOffice }

/** Messages per chat that the phone keeps besides those that it was told to remember. */
const KEPT_PER_CHAT = 1_000
/** Contents that change another message. A phone does not mark them as read. */
const NOT_READ = new Set(['reactionMessage', 'protocolMessage', 'pollUpdateMessage'])

export class SimPhone extends FileAuthor {
  readonly companionEvents: EventLog<CompanionEvent>
  readonly appState: AppState
  readonly archive: ChatArchive
  readonly history: PhoneHistory
  readonly labels: PhoneLabels
  readonly #office: CompanionOffice
  readonly #read = new Set<string>()
  latestDeviceId = 0
  /** While true, the server asks for a passkey when this account links a companion. */
  asksPasskey = false
  /** Whether the owner uses WhatsApp Business. Companions learn it when they are linked. */
  isBusiness = false
  #isOffline = false
  readonly #postponed: (() => void)[] = []

  constructor({ user, parts, random, office }: Deps) {
    super({ user, parts, random, devices: 1 })
    this.#office = office
    this.appState = new AppState(random.fork('app state'))
    const freshId = (): string => `3A${random.hex(9)}`
    const { addressing, media: host, clock } = parts
    this.archive = new ChatArchive({ owner: user, addressing, limit: KEPT_PER_CHAT, freshId })
    const timerOf = (chat: User) => this.timers.of(chat)
    const historyRandom = random.fork('history')
    this.history = new PhoneHistory({ archive: this.archive, owner: user, host, random: historyRandom, clock, timerOf })
    this.labels = new PhoneLabels({
      appState: this.appState,
      change: (mutation) => {
        this.changeAppState('regular', mutation)
      },
      now: () => clock.now(),
    })
    const name = { index: ['setting_pushName'], value: { pushNameSetting: { name: user.pushName } }, apiVersion: 1 }
    this.appState.change('critical_block', name)
    user.nctSalt = random.fork('nct salt').bytes(32)
    this.companionEvents = new EventLog(`companions of ${user.phone}`, (one) => `device ${one.device} ${one.state}`)
  }

  /** How the phone's app names itself to companions. */
  get platform(): string {
    return this.isBusiness ? 'smba' : 'android'
  }

  get companions(): CompanionDevice[] {
    return [...this.user.devices.values()].filter((device) => device instanceof CompanionDevice)
  }

  /** The companion that was linked last. */
  get companion(): CompanionDevice {
    const latest = this.companions.at(-1)
    if (!latest) throw new Error(`${this.user.phone} has no linked device`)
    return latest
  }

  claimDeviceId(): number {
    this.latestDeviceId += 1
    return this.latestDeviceId
  }

  /** Scans a QR code with the camera. Resolves when the companion is linked. */
  scan(qr: string): Promise<number> {
    return this.#office.scan(this, qr)
  }

  /** Types the code that the companion shows. Resolves when the companion is linked. */
  link(code: string): Promise<number> {
    return this.#office.link(this, code)
  }

  /** Logs out all companions, or one. */
  unlink(deviceId?: number): void {
    for (const device of this.companions) {
      if (deviceId === undefined || device.id === deviceId) this.removeCompanion(device)
    }
  }

  removeCompanion(device: CompanionDevice): void {
    this.user.devices.delete(device.id)
    this.parts.onDeviceChange(device, 'remove')
    device.books.clear()
    const conflict = stanza('conflict', { type: 'device_removed' })
    device.connection?.end(stanza('stream:error', { code: '401' }, [conflict]))
    this.companionEvents.add({ device: device.id, state: 'unlinked', at: this.parts.clock.now() })
  }

  /** Opens a chat on the phone: marks its unread messages as read and tells the other devices. */
  read(chat: Recipient): string[] {
    const target = chatOf(chat)
    const addresses = target instanceof User ? [target.pnJid, target.lidJid] : [target.jid]
    const unread = this.messages.entries.filter(
      (one) =>
        addresses.includes(one.chat) &&
        !one.own &&
        !this.#read.has(one.id) &&
        !NOT_READ.has(kindOfMessage(one.message)),
    )
    this.receipt('read', unread)
    for (const { id, chat: to } of unread) {
      this.#read.add(id)
      this.parts.receipts.forward(this.device, stanza('receipt', { id, to, type: 'read-self' }))
    }
    return unread.map((one) => one.id)
  }

  /** Saves a person in the address book under this name and tells the companions. Undefined removes the person. */
  saveContact(person: Correspondent, name: string | undefined): void {
    const { pnJid, lidJid } = person.user
    const [firstName] = (name ?? '').split(' ')
    const saved = { fullName: name, firstName, lidJid, saveOnPrimaryAddressbook: true }
    const value = { timestamp: this.parts.clock.now(), contactAction: name === undefined ? {} : saved }
    const mutation = { index: ['contact', pnJid], value, apiVersion: 2, remove: name === undefined }
    this.changeAppState('critical_unblock_low', mutation)
  }

  /** Sets the timer with which the owner begins new chats, and tells the companions. */
  setDefaultTimer(seconds: number): void {
    const t = unixSeconds(this.parts.clock)
    this.user.defaultTimer = { seconds, setAt: Number(t) }
    const attributes = { from: this.user.pnJid, type: 'account_sync', id: this.random.hex(6), t }
    const news = stanza('notification', attributes, [disappearingMode(this.user.defaultTimer)])
    for (const device of this.companions) device.deliver(news)
  }

  /** Changes the salt of the tokens for strangers and tells the companions. Undefined removes the salt. */
  changeSalt(salt: Buffer | undefined): void {
    this.user.nctSalt = salt
    // The value has a field that the schema of the library does not have.
    const more = salt && { more: writeFields([[80, writeFields([[1, salt]])]]) }
    const value = { timestamp: this.parts.clock.now() }
    this.changeAppState('regular_high', { index: ['nct_salt_sync'], value, ...more, apiVersion: 1, remove: !salt })
  }

  changeAppState(collection: Collection, mutation: Mutation): void {
    this.appState.change(collection, mutation)
    const version = String(this.appState.version(collection))
    const attributes = {
      from: this.user.pnJid,
      type: 'server_sync',
      id: this.random.hex(6),
      t: unixSeconds(this.parts.clock),
    }
    const news = stanza('notification', attributes, [stanza('collection', { name: collection, version })])
    for (const device of this.companions) device.deliver(news)
  }

  /** The account moves to LIDs. The phone tells its companions, with the LIDs of these people. */
  migrate(people: readonly Correspondent[] = []): void {
    this.user.isMigrated = true
    const users = people.map((person) => person.user)
    for (const device of this.companions) this.tell(device, mappingSync(users, this.parts.clock.now()))
  }

  /** While true, the phone answers no request of its companions. It answers them when it is back. */
  get isOffline(): boolean {
    return this.#isOffline
  }

  set isOffline(isOffline: boolean) {
    this.#isOffline = isOffline
    if (!isOffline) for (const answer of this.#postponed.splice(0)) answer()
  }

  /** Adds a message that is older than every companion. Companions get it as history. Returns the id of the message. */
  remember(chat: Recipient, past: PastMessage): string {
    return this.archive.add(chatOf(chat), past)
  }

  /** Sets how the phone keeps a chat: under which address, and where companions learn the other one. */
  keepChat(chat: Recipient, form: ChatForm): void {
    this.archive.open(chatOf(chat), form)
  }

  /** Sends a new companion the app-state key and then the history that it asked for. */
  onboard(device: CompanionDevice): void {
    device.onboarded = true
    this.tell(device, keyShare(this.appState.key, this.parts.clock.now()))
    for (const message of this.history.forCompanion(device.historyWish)) this.tell(device, message)
  }

  /** Sends a piece of history that is not in the archive to all companions. */
  sendHistory(chunk: HistoryChunk): void {
    for (const device of this.companions) this.tell(device, this.history.carry(chunk))
  }

  override write(chat: ChatTarget, message: proto.IMessage, options: SendOptions = {}): SentMessage {
    const sent = super.write(chat, message, options)
    const at = options.timestamp ?? Number(unixSeconds(this.parts.clock))
    if (chat instanceof User || chat.jid !== STATUS_JID)
      this.archive.note(chat, { message: sent.message, at, id: sent.id })
    return sent
  }

  override onMessage(device: LocalDevice, received: ReceivedMessage): void {
    if (received.stanza.attrs.category === 'peer') {
      this.#whenOnline(() => {
        this.#answerPeer(received)
      })
      return
    }
    super.onMessage(device, received)
    if (received.chat === STATUS_JID) return
    const { id, from, message, stanza: node } = received
    const content = message.deviceSentMessage?.message ?? message
    const past = { id, from, message: content, at: Number(node.attrs.t ?? unixSeconds(this.parts.clock)) }
    this.archive.note(this.chatTarget(received.chat), past)
  }

  #answerPeer({ id, fromDevice, message }: ReceivedMessage): void {
    const device = this.companions.find((one) => one.id === fromDevice)
    if (!device) return
    for (const answer of companionAnswers(this, id, message)) this.tell(device, answer)
  }

  override onReceipt(own: LocalDevice, receipt: Stanza): void {
    if (receipt.attrs.type !== 'server-error') {
      super.onReceipt(own, receipt)
      return
    }
    this.#whenOnline(() => {
      this.#renewMedia(receipt)
    })
  }

  #whenOnline(answer: () => void): void {
    if (this.#isOffline) this.#postponed.push(answer)
    else answer()
  }

  #renewMedia(receipt: Stanza): void {
    const received = this.messages.entries.find((one) => one.id === receipt.attrs.id)
    const deps = { host: this.parts.media, random: this.random, clock: this.parts.clock, from: this.user.pnJid }
    const answer = renewMedia(receipt, received, deps)
    for (const device of this.companions) device.deliver(answer)
  }
}

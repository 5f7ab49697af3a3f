// Reads and changes the labels of an account of WhatsApp Business.
//
// Labels are entries of a collection of the app state. The library reads the changes of the collection, stores up to which
// version it has read, and then emits the changes. After a crash in between it would never emit them. So the version whose
// changes the reception has is stored too: a connection that finds another version than that one reads the collection from
// its beginning. This also happens when labels were switched on after the account was linked.
//
// The library also takes a change for accepted that the server refuses because another device was faster. The collection is
// then read from its beginning, and the caller hears that the change failed.

import { setImmediate as turn } from 'node:timers/promises'
import { chatJid, lidDomain, lidJid, phoneJid } from '../../core/address.ts'
import type { Chat } from '../../core/address.ts'
import type { InstanceName, Jid } from '../../core/ids.ts'
import type { LabelChange, LabelNews, LabelReception, NetworkLabels } from '../../core/sync/labels.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { Lane } from '../../lib/queues/lane.ts'
import { retryUntil } from '../../lib/retry.ts'
import type { Account } from '../account/account.ts'
import type { ConnectionKeys } from '../account/connection-keys.ts'
import { runOutside } from '../connection/fault-isolation.ts'
import type { AuthenticationCreds, BinaryNode, ChatModification, WASocket } from '../library/library.ts'
import { answerAbout, associationOf, editOf } from './read-labels.ts'

type Deps = {
  socket: WASocket
  account: Pick<Account, 'addressing'>
  connectionKeys: Pick<ConnectionKeys, 'set' | 'account'>
  creds: AuthenticationCreds
  instance: InstanceName
  reception: Partial<LabelReception>
  gone: AbortSignal
  clock: Clock
  log: Log
}

/** `own` are changes that the service made after everything that was heard. */
type Report = { isFirst?: boolean; isWhole?: boolean; isNewLink?: boolean; own?: readonly LabelChange[] }

/** The collection of the app state that holds the labels. */
const collection = 'regular'
/** Where the version is stored whose changes the reception has. */
const versionKind = 'label-version'
const storePauses = { firstMs: 1000, ceilingMs: 30_000 }
/** Each attempt to read the labels asks WhatsApp several times. */
const readPauses = { firstMs: 5000, ceilingMs: 10 * 60_000 }
/** WhatsApp has this many colours for labels. */
const colors = 20

export class AccountLabels implements NetworkLabels {
  readonly #deps: Deps
  readonly #lane = new Lane()
  #news: LabelChange[] = []
  /** The version that was stored when the connection was opened. */
  #atOpening: Promise<number | undefined> = Promise.resolve(undefined)
  /** A change was refused since the last look at this. */
  #isRefused = false
  /** The last answer of the server brought nothing. */
  #isEmpty = false
  isRead = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Called before the connection is used. */
  listen(): void {
    const { socket, creds, instance, reception } = this.#deps
    if (!reception.keepsLabels?.(instance) || !isBusiness(creds)) return
    this.#atOpening = this.#version().catch(() => undefined)
    socket.ev.on('labels.edit', (label) => {
      this.#hear(editOf(label))
    })
    socket.ev.on('labels.association', (change) => {
      this.#hear(associationOf(change))
    })
    socket.ws.on('CB:iq,,sync', (stanza: BinaryNode) => {
      const answer = answerAbout(stanza, collection)
      this.#isRefused ||= answer === 'refused'
      this.#isEmpty = answer === 'empty'
    })
    // The library reads the app state of a new link by itself and then counts that.
    socket.ev.on('creds.update', ({ accountSyncCounter }) => {
      if (accountSyncCounter !== undefined) this.#startReading()
    })
  }

  /** Called when the backlog of the connection is handed over. */
  begin(): void {
    const { creds, instance, reception } = this.#deps
    if (!reception.keepsLabels?.(instance)) return
    if (isBusiness(creds)) this.#startReading()
    else runOutside(() => reception.onNoLabels?.(instance))
  }

  refresh(): Promise<void> {
    return this.#lane.run(async () => {
      await this.#deps.socket.resyncAppState([collection], false)
      await this.#report()
    })
  }

  name(labelId: string, name: string): Promise<void> {
    const addLabel = { id: labelId, name, color: Number(labelId) % colors, deleted: false }
    return this.#change({ addLabel }, '', { kind: 'named', labelId, name })
  }

  mark(labelId: string, chat: Jid, isLabelled: boolean): Promise<void> {
    const modification = isLabelled ? { addChatLabel: { labelId } } : { removeChatLabel: { labelId } }
    return this.#change(modification, chat, { kind: 'chat', labelId, chat, isLabelled })
  }

  async addressOf(chat: Chat): Promise<Jid> {
    if (chat.kind === 'group') return chatJid(chat)
    const { phone, lid } = chat
    const isMoved = (await this.#deps.account.addressing.domain()) === lidDomain
    if (lid !== null && (isMoved || phone === null)) return lidJid(lid)
    return phoneJid(phone ?? '')
  }

  #hear(change: LabelChange | undefined): void {
    if (!change) return
    this.#news.push(change)
    if (!this.isRead || this.#news.length > 1) return
    void this.#lane.run(() => this.#report()).catch(this.#logFailure.bind(this))
  }

  /** Goes on until the labels are read: keys that are missing come later, and the connection may last for weeks. */
  #startReading(): void {
    const { clock, gone: signal } = this.#deps
    const onFailure = this.#logFailure.bind(this)
    void retryUntil({ clock, signal, pauses: readPauses, onFailure }, () => this.#lane.run(() => this.#catchUp()))
  }

  #logFailure(err: unknown): void {
    if (!this.#deps.gone.aborted) this.#deps.log.warn({ err, instance: this.#deps.instance }, 'labels were not read')
  }

  async #catchUp(): Promise<void> {
    if (this.isRead) return
    // After a new link the library reads the app state by itself. When it has, this runs again.
    if (!this.#deps.creds.accountSyncCounter) return
    const reported = await this.#reportedVersion()
    if (reported === undefined || reported !== (await this.#atOpening)) {
      await this.#readAll({ isNewLink: reported === undefined })
      return
    }
    await this.#deps.socket.resyncAppState([collection], false)
    this.isRead = true
    await this.#report({ isFirst: true })
  }

  /** Forgets the version and reads the collection within one transaction: a failure leaves the version as it was. */
  async #readAll({ isNewLink }: { isNewLink: boolean }): Promise<void> {
    const { socket, creds } = this.#deps
    const { keys } = socket.authState
    const readFromStart = async (): Promise<void> => {
      await keys.set({ 'app-state-sync-version': { [collection]: null } })
      this.#news = []
      await socket.resyncAppState([collection], false)
    }
    await keys.transaction(readFromStart, creds.me?.id ?? '')
    // The library reads nothing at all while keys are missing.
    if ((await this.#version()) === 0 && !this.#isEmpty) throw new Error('the labels cannot be decrypted')
    this.isRead = true
    await this.#report({ isWhole: true, isNewLink })
  }

  /** Hands over what was heard, and stores up to which version that is. */
  async #report({ isFirst = false, isWhole = false, isNewLink = false, own = [] }: Report = {}): Promise<void> {
    const version = await this.#version()
    // The library stores a version and emits its changes in the same turn of the event loop.
    await turn()
    const changes = this.#news.splice(0)
    if (changes.length > 0 || isFirst || isWhole) await this.#store({ changes, isWhole, isNewLink, isOwn: false })
    if (own.length > 0) await this.#store({ changes: own, isWhole: false, isNewLink: false, isOwn: true })
    await this.#deps.connectionKeys.set({ [versionKind]: { [collection]: version } })
  }

  async #store(news: LabelNews): Promise<void> {
    const { instance, reception, gone, clock, log } = this.#deps
    const onFailure = (err: unknown, failures: number) => {
      if (failures === 0) log.warn({ err, instance }, 'labels are not stored yet')
    }
    const store = () => runOutside(() => reception.onLabels?.(instance, news) ?? Promise.resolve())
    const stored = await retryUntil({ clock, signal: gone, pauses: storePauses, onFailure }, store)
    if (!stored) throw new Error('this connection has ended')
  }

  async #change(modification: ChatModification, chat: Jid, change: LabelChange): Promise<void> {
    await this.#lane.run(async () => {
      if (!this.isRead) throw new Error('the labels are not read yet')
      this.#isRefused = false
      await this.#deps.socket.chatModify(modification, chat)
      if (!this.#wasRefused()) return this.#report({ own: [change] })
      await this.#readAll({ isNewLink: false })
      throw new Error('another device changed the labels at the same time')
    })
  }

  #wasRefused(): boolean {
    return this.#isRefused
  }

  /** 0 when nothing was read. */
  async #version(): Promise<number> {
    const found = await this.#deps.socket.authState.keys.get('app-state-sync-version', [collection])
    return found[collection]?.version ?? 0
  }

  async #reportedVersion(): Promise<number | undefined> {
    const found = await this.#deps.connectionKeys.account.get(versionKind, [collection])
    return found[collection] as number | undefined
  }
}

/** The name of the phone's app, as it was told when the account was linked. */
function isBusiness({ platform }: AuthenticationCreds): boolean {
  return platform?.startsWith('smb') === true
}

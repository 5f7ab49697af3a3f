// Posts notices about an account's connection, and its QR code, to the helpdesk inbox where agents work.
//
// One lane per instance: notices come in order. A code is removed when the next one is posted or the account is linked.

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { HelpdeskInbox } from '../core/downstream.ts'
import type { DestinationKey, InstanceName, Jid } from '../core/ids.ts'
import type { InstanceState } from '../core/instance.ts'
import type { PerInstance } from '../core/per-instance.ts'
import { translateReason } from '../core/reasons/reason.ts'
import type { Locale } from '../core/reasons/sentences.ts'
import { orAbort } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import { KeyedLanes } from '../lib/queues/keyed-lanes.ts'
import type { Log } from '../lib/log.ts'
import type { Announcement } from './announcer.ts'
import { noticeTexts } from './notice-texts.ts'
import type { NoticeTexts } from './notice-texts.ts'
import { conversationOf, postNotice, takeBack } from './operations-contact-inbox.ts'
import type { Notice, Posted } from './operations-contact-inbox.ts'

type NoticedAccount = {
  readonly state: InstanceState
  readonly record: Readonly<{ name: string; jid: Jid | null; lastQrMessageId: number }>
  readonly qr: Readonly<{ text: string }> | null
  requestPairing(): Promise<void>
  /** Stores which message shows the code. */
  keepQrMessage(id: number): Promise<void>
}

type NoticeTarget = { key: string; inbox: HelpdeskInbox }

type Deps = {
  find: (instance: InstanceName) => NoticedAccount | undefined
  /** The helpdesk inbox of an instance; null while none is configured. */
  inboxOf: (instance: InstanceName) => Promise<NoticeTarget | null>
  /** The node that holds the instance is to show the code. */
  askOwner: (instance: InstanceName, destinationKey: DestinationKey) => void
  /** A picture of a QR code, as PNG. */
  draw: (text: string) => Promise<Buffer>
  /** The language of the agents of an instance. */
  localeOf: (instance: InstanceName) => Locale
  /** A reconnect is announced only when the outage was announced, too. */
  unreachableMs: number
  clock: Clock
  log: Log
}

export class HelpdeskNotices implements PerInstance {
  readonly #deps: Deps
  readonly #lanes = new KeyedLanes()
  readonly #shown = new Map<string, Posted>()
  readonly #running = new Set<Promise<void>>()
  readonly #stop = new AbortController()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Called for every lifecycle event. */
  heard({ event, instance, extras }: Announcement): void {
    const { localeOf, unreachableMs } = this.#deps
    const texts = this.#textsOf(instance)
    const reason = translateReason(String(extras['reason'] ?? ''), localeOf(instance))
    const downMs = Number(extras['downtime_seconds'] ?? 0) * 1000
    if (event === 'qr_generated') this.#inTurn(instance, () => this.#showCode(instance))
    // Only the end of a pairing carries this code.
    const isPairingRefused = event === 'disconnected' && extras['error_code'] !== undefined
    if (event === 'paired' || event === 'logged_out' || isPairingRefused) {
      this.#inTurn(instance, () => this.#hideCode(instance))
    }
    if (isPairingRefused) this.#tell(instance, texts.notLinked(reason))
    if (event === 'connected') this.#tell(instance, texts.connected(this.#phoneOf(instance)))
    if (event === 'unreachable') this.#tell(instance, texts.unreachable(unreachableMs / 1000, reason))
    if (event === 'reconnected' && downMs >= unreachableMs) {
      this.#tell(instance, texts.reconnected(Math.round(downMs / 60_000)))
    }
    if (event === 'logged_out') this.#tell(instance, texts.loggedOut(reason))
    if (event === 'strike') this.#tell(instance, texts.strike(reason))
  }

  /**
   * An agent wrote to the operations contact of `instance`. `destinationKey` is the inbox it was written in: agents of one
   * inbox cannot ask for the codes of another.
   */
  async onOperationsMessage(instance: InstanceName, text: string, destinationKey: DestinationKey): Promise<void> {
    const { find, askOwner } = this.#deps
    if (text.trim().toLowerCase() !== 'qr') return
    if (find(instance)) await this.#requestCode(instance, destinationKey)
    else askOwner(instance, destinationKey)
  }

  /** An agent has asked another node. */
  showCode(instance: InstanceName, destinationKey: DestinationKey): void {
    this.#inTurn(instance, () => this.#requestCode(instance, destinationKey))
  }

  /** Drops what is remembered, after the notices that are under way. */
  leave(instance: InstanceName): void {
    this.#inTurn(instance, () => {
      this.#shown.delete(instance)
      return Promise.resolve()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await Promise.all([...this.#running])
  }

  /** Never fails: a notice that could not be posted is logged. */
  #inTurn(instance: InstanceName, work: () => Promise<void>): void {
    const { log } = this.#deps
    const guarded = async () => {
      if (this.#stop.signal.aborted) return
      await work().catch((err: unknown) => {
        log.warn({ err, instance }, 'a notice did not reach the helpdesk')
      })
    }
    const running = this.#lanes.run(instance, guarded)
    this.#running.add(running)
    void running.finally(() => this.#running.delete(running))
  }

  async #requestCode(instance: InstanceName, destinationKey: DestinationKey): Promise<void> {
    const { find, inboxOf } = this.#deps
    const account = find(instance)
    if (!account || (await inboxOf(instance))?.key !== destinationKey) return
    // The pairing waits for the boot of the account, and a start that fails boots no account.
    await orAbort(account.requestPairing(), this.#stop.signal)
    if (account.state !== 'qr_pending') this.#tell(instance, this.#textsOf(instance).noCode)
  }

  #tell(instance: InstanceName, content: string): void {
    this.#inTurn(instance, async () => {
      await this.#post({ content, files: [], isCurrent: () => this.#deps.find(instance) !== undefined }, instance)
    })
  }

  async #showCode(instance: InstanceName): Promise<void> {
    const { find, draw } = this.#deps
    const account = find(instance)
    const code = account?.qr?.text
    if (!account || code === undefined) return
    const picture = await draw(code)
    const file = {
      open: () => Promise.resolve(Readable.from([picture])),
      fileName: 'qr.png',
      mimeType: 'image/png',
      size: picture.length,
    }
    // A newer code is posted by its own event.
    const isCurrent = () => account.qr?.text === code
    const outdated = await this.#codeShown(instance)
    const posted = await this.#post({ content: this.#textsOf(instance).scan, files: [file], isCurrent }, instance)
    if (!posted) return
    this.#shown.set(instance, posted)
    // When the account was linked meanwhile, the code is removed in a moment and need not be stored.
    if (account.qr !== null) await account.keepQrMessage(posted.messageId)
    if (outdated) await this.#takeBack(instance, outdated)
    if (account.qr === null) await this.#hideCode(instance)
  }

  async #hideCode(instance: InstanceName): Promise<void> {
    const shown = await this.#codeShown(instance)
    this.#shown.delete(instance)
    if (shown) await this.#takeBack(instance, shown)
  }

  async #codeShown(instance: InstanceName): Promise<Posted | undefined> {
    const shown = this.#shown.get(instance)
    const messageId = this.#deps.find(instance)?.record.lastQrMessageId ?? 0
    if (shown || messageId === 0) return shown
    // A code of the process before is in the same conversation.
    const at = await this.#deps.inboxOf(instance)
    return at ? { conversationId: (await conversationOf(at.inbox, this.#contact(instance))).id, messageId } : undefined
  }

  async #takeBack(instance: InstanceName, posted: Posted): Promise<void> {
    const at = await this.#deps.inboxOf(instance)
    if (at) await takeBack(at.inbox, posted)
  }

  async #post(
    notice: Pick<Notice, 'content' | 'files' | 'isCurrent'>,
    instance: InstanceName,
  ): Promise<Posted | undefined> {
    const { inboxOf, clock } = this.#deps
    const at = await inboxOf(instance)
    const whole = { ...notice, ...this.#contact(instance), sourceId: randomUUID() }
    return at ? postNotice(at.inbox, whole, clock, this.#stop.signal) : undefined
  }

  #contact(instance: InstanceName): Pick<Notice, 'instance' | 'contactName'> {
    return { instance, contactName: this.#textsOf(instance).name(instance) }
  }

  #textsOf(instance: InstanceName): NoticeTexts {
    return noticeTexts[this.#deps.localeOf(instance)]
  }

  #phoneOf(instance: InstanceName): string {
    return `+${this.#deps.find(instance)?.record.jid?.split('@')[0] ?? ''}`
  }
}

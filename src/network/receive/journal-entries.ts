// Stores each received message once: its inbox rows, its fingerprint and what the library must still act on.

import { hash } from 'node:crypto'
import type { ToldTimer } from '../../core/chat-timer.ts'
import type { InstanceName, RowId } from '../../core/ids.ts'
import type { NetworkEvent } from '../../core/message.ts'
import type { Reception } from '../../core/network/reception.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { JournalStore, UnfinishedStanza } from '../../storage/stores/messages/journal-store.ts'
import type { Account } from '../account/account.ts'
import type { ConnectionKeys } from '../account/connection-keys.ts'
import type { StepAddition } from '../account/key-writer.ts'
import { runOutside } from '../connection/fault-isolation.ts'
import { cleaned } from '../decode/clean.ts'
import { withTimerChange } from './timer-changes.ts'

type Deps = {
  account: Account
  connectionKeys: ConnectionKeys
  instance: InstanceName
  store: JournalStore
  reception: Partial<Reception>
  nextId: () => RowId
  clock: Clock
  /** A message from the phone is stored. The library must act on it now. */
  onPhoneMessage: (message: UnfinishedStanza) => void
}

/** The fingerprint identifies one ciphertext or one notice. */
export type JournalEntry = {
  fingerprint: string
  events: readonly NetworkEvent[]
  phoneMessage?: UnfinishedStanza | undefined
}

/** Adds nothing, but makes the step wait for all earlier writes. */
const waitForEarlier: StepAddition = { statements: [], onSaved: () => undefined }
const storedLateMs = 100

export class JournalEntries {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether the message was opened lately. Such a message may not be stored yet. */
  isRecent(fingerprint: string): boolean {
    return this.#deps.account.opened.has(fingerprint)
  }

  /** Whether the message was opened before, lately or long ago. */
  async isKnown(fingerprint: string): Promise<boolean> {
    const { account, store } = this.#deps
    if (this.isRecent(fingerprint)) return true
    return account.keys.askStorage(() => store.wasOpened(account.sessionId, fingerprint))
  }

  /** Stores the entry in one commit with the keys of the current step. */
  addToStep(entry: JournalEntry): void {
    const { connectionKeys, account } = this.#deps
    connectionKeys.account.addToStep(this.#additionFor(entry))
    // Only now: the line above throws when the connection has ended, and then the message will be delivered again.
    account.opened.set(entry.fingerprint, true)
  }

  /** For tests without a journal: stores the entry about when the library's own event would have come. */
  storeLater(entry: JournalEntry): void {
    const { account, clock } = this.#deps
    account.opened.set(entry.fingerprint, true)
    clock.after(storedLateMs, () => void account.keys.store(this.#additionFor(entry)).catch(ignoreRejection))
  }

  /** Inside a step: the message was received before. It must be stored before the network is told again. */
  noteRepeat(): void {
    const { connectionKeys, reception, instance } = this.#deps
    connectionKeys.account.addToStep(waitForEarlier)
    runOutside(() => reception.onRepeated?.(instance))
  }

  /** Inside a step: the event, and what it changes about the timer of its chat. */
  withTimerChange(event: NetworkEvent, timer: ToldTimer | undefined): Promise<NetworkEvent[]> {
    return withTimerChange(event, timer, this.#deps.account.timers)
  }

  #additionFor({ fingerprint, events, phoneMessage }: JournalEntry): StepAddition {
    const { account, instance, store, reception, nextId, clock, onPhoneMessage } = this.#deps
    const { sessionId } = account
    const receivedAt = clock.now()
    const rows = events.map((event) => ({ id: nextId(), event: cleaned(event), receivedAt }))
    const statements = [store.opened(sessionId, fingerprint, receivedAt)]
    for (const row of rows) statements.push(store.inbox({ ...row, instance }))
    if (phoneMessage) statements.push(store.unfinished(sessionId, phoneMessage, receivedAt))
    const onSaved = () => {
      if (rows.length > 0) runOutside(() => reception.onReceived?.(instance, rows))
      if (phoneMessage) onPhoneMessage(phoneMessage)
    }
    return { statements, onSaved }
  }
}

/** 22 characters of a hash. */
export function fingerprintOf(content: Uint8Array | string): string {
  return hash('sha256', content, 'base64url').slice(0, 22)
}

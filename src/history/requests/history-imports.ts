// The use cases behind the endpoints of the history. A request that is refused leaves nothing behind.

import { randomUUID } from 'node:crypto'
import type { People } from '../../bridge/people/people.ts'
import type { Chat } from '../../core/address.ts'
import type { AuditRecord, Caller } from '../../core/audit.ts'
import { BridgeError } from '../../core/errors.ts'
import { historyDisabled } from '../../core/history/history-disabled.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { InstanceState } from '../../core/instance.ts'
import type { ImportParams } from '../../core/jobs/history-jobs.ts'
import { notReady } from '../../jobs/not-ready.ts'
import type { AddedJob, Jobs } from '../../jobs/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import type { HistoryStore } from '../../storage/stores/history/history-store.ts'
import type { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import { findChatAddresses } from './chat-addresses.ts'
import type { ChatAddresses } from './chat-addresses.ts'

type Deps = {
  /** False while imports are switched off. */
  isOn: boolean
  jobs: Pick<Jobs, 'add'>
  people: Pick<People, 'lookUp'>
  history: Pick<HistoryStore, 'anchorOf'>
  map: Pick<MessageMapStore, 'oldestOf'>
  clock: Pick<Clock, 'now'>
}

/** The instance whose history is imported. */
export type ImportingAccount = {
  instance: InstanceName
  ownerTag: string
  state: InstanceState
  /** For how many days the phone was asked when the account was linked; 0 when it was not asked. */
  askedDays: number
  /** Who asks for the import. */
  actor: Caller
}

export type ImportRequest = Omit<ImportParams, 'chat'>

export class HistoryImports {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async importChat(account: ImportingAccount, chat: Chat, request: ImportRequest): Promise<AddedJob> {
    this.#assertPossible(account)
    const known = await this.#findKnown(account.instance, chat)
    if (!known) throw noAnchor(account)
    const order = { type: 'history_chat', params: { ...request, chat: known.jids } } as const
    return this.#deps.jobs.add(account.instance, order, [this.#audit(account, 'chat')])
  }

  async importAll(account: ImportingAccount, request: ImportRequest): Promise<AddedJob> {
    this.#assertPossible(account)
    const order = { type: 'history_all', params: { ...request, chat: null } } as const
    return this.#deps.jobs.add(account.instance, order, [this.#audit(account, 'all')])
  }

  /** Only the phone has older messages, and it is asked through the connection. */
  #assertPossible({ state }: ImportingAccount): void {
    if (!this.#deps.isOn) throw historyDisabled()
    if (state !== 'ready') throw notReady(state)
  }

  /** Undefined when no message of the chat is known. */
  async #findKnown(instance: InstanceName, chat: Chat): Promise<ChatAddresses | undefined> {
    for (const addresses of await findChatAddresses(this.#deps, instance, chat)) {
      if (await this.#hasAnchor(instance, addresses)) return addresses
    }
    return undefined
  }

  async #hasAnchor(instance: InstanceName, { chatId, jids, formerJids }: ChatAddresses): Promise<boolean> {
    const { history, map } = this.#deps
    if (chatId !== null && (await map.oldestOf(instance, chatId))) return true
    return (await history.anchorOf(instance, [...jids, ...formerJids])) !== null
  }

  #audit({ instance, ownerTag, actor }: ImportingAccount, target: string): AuditRecord {
    const at = this.#deps.clock.now()
    return { at, actor, action: 'history.import', instance, ownerTag, target, key: randomUUID() }
  }
}

export function noAnchor({ askedDays }: Pick<ImportingAccount, 'askedDays'>): BridgeError {
  const why = 'no message of this chat is known, and the phone can only be asked for messages before a known one'
  const wait = 'wait for a message of this chat'
  const cure = askedDays > 0 ? wait : `pair again with history.enabled true, or ${wait}`
  return new BridgeError('SERVICE_NO_ANCHOR', `${why}: ${cure}`)
}

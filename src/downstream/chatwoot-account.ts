// Implements the administrator's side of the helpdesk port for one account of a Chatwoot.

import { DownstreamError } from '../core/downstream.ts'
import type { AccountAccess, HelpdeskAccount, InboxChanges } from '../core/helpdesk/helpdesk-account.ts'
import type { InboxSettings, Installation, NewInbox } from '../core/helpdesk/helpdesk-account.ts'
import {
  readAgentIds,
  readInbox,
  readInboxes,
  readLabels,
  readMemberIds,
  readRole,
  versionCall,
} from './account-json.ts'
import { anything, ChatwootCalls } from './chatwoot-calls.ts'
import type { CallDeps } from './chatwoot-calls.ts'

// The Date header has whole seconds.
const halfSecondMs = 500
/** The colour that Chatwoot suggests for a new label. */
const labelColor = '#1f93ff'
/** Only administrators may create labels. A title may be taken. */
const refusals = [401, 403, 422]

export class ChatwootAccount implements HelpdeskAccount {
  readonly #deps: CallDeps
  readonly #access: AccountAccess
  readonly #calls: ChatwootCalls

  constructor(deps: CallDeps, access: AccountAccess) {
    this.#deps = deps
    this.#access = access
    this.#calls = new ChatwootCalls(deps, access)
  }

  async installation(): Promise<Installation> {
    const { clock } = this.#deps
    const startedAt = clock.now()
    const { version, date } = await this.#calls.send(versionCall)
    const askedAt = (startedAt + clock.now()) / 2
    return { version, aheadMs: date === null ? null : Math.round(date + halfSecondMs - askedAt) }
  }

  async role(): Promise<string | null> {
    const read = (json: unknown) => readRole(json, this.#access.accountId)
    const path = '/api/v1/profile'
    return (await this.#calls.send({ method: 'GET', path, isGlobal: true, about: 'profile', read })).role
  }

  inboxes(): Promise<InboxSettings[]> {
    return this.#calls.send({ method: 'GET', path: '/inboxes', about: 'account', read: readInboxes })
  }

  async findInbox(id: number): Promise<InboxSettings | null> {
    try {
      const path = `/inboxes/${id}`
      return await this.#callsAbout(id).send({ method: 'GET', path, about: 'inbox of the account', read: readInbox })
    } catch (error) {
      if (error instanceof DownstreamError && error.failure === 'gone') return null
      throw error
    }
  }

  createInbox(inbox: NewInbox): Promise<InboxSettings> {
    const { name, webhookUrl, isLockedToSingleConversation } = inbox
    const json = {
      name,
      lock_to_single_conversation: isLockedToSingleConversation,
      channel: { type: 'api', webhook_url: webhookUrl },
    }
    return this.#calls.send({ method: 'POST', path: '/inboxes', about: 'account', json, read: readInbox })
  }

  changeInbox(id: number, { webhookUrl, isLockedToSingleConversation }: InboxChanges): Promise<InboxSettings> {
    const json = {
      ...(webhookUrl !== undefined && { channel: { webhook_url: webhookUrl } }),
      ...(isLockedToSingleConversation !== undefined && { lock_to_single_conversation: isLockedToSingleConversation }),
    }
    const path = `/inboxes/${id}`
    return this.#callsAbout(id).send({ method: 'PATCH', path, about: 'inbox of the account', json, read: readInbox })
  }

  agentIds(): Promise<number[]> {
    return this.#calls.send({ method: 'GET', path: '/agents', about: 'account', read: readAgentIds })
  }

  memberIds(inboxId: number): Promise<number[]> {
    const path = `/inbox_members/${inboxId}`
    const calls = this.#callsAbout(inboxId)
    return calls.send({ method: 'GET', path, about: 'inbox of the account', read: readMemberIds })
  }

  labels(): Promise<string[]> {
    return this.#calls.send({ method: 'GET', path: '/labels', about: 'account', read: readLabels })
  }

  async createLabel(title: string): Promise<boolean> {
    const json = { label: { title, color: labelColor, show_on_sidebar: true } }
    try {
      await this.#calls.send({ method: 'POST', path: '/labels', about: 'account', json, read: anything })
      return true
    } catch (error) {
      if (!(error instanceof DownstreamError) || !refusals.includes(error.status ?? 0)) throw error
      // Another process may have created it at the same time.
      return (await this.labels()).includes(title)
    }
  }

  async addMembers(inboxId: number, userIds: readonly number[]): Promise<void> {
    if (userIds.length === 0) return
    const json = { inbox_id: inboxId, user_ids: userIds }
    const calls = this.#callsAbout(inboxId)
    await calls.send({ method: 'POST', path: '/inbox_members', about: 'inbox of the account', json, read: anything })
  }

  /** A refusal then names the inbox. */
  #callsAbout(inboxId: number): ChatwootCalls {
    return new ChatwootCalls(this.#deps, { ...this.#access, inboxId })
  }
}

// Reads what Chatwoot says of itself, of the owner of a token, and of the inboxes and people of an account.

import type { InboxSettings } from '../core/helpdesk/helpdesk-account.ts'
import type { Call } from './chatwoot-calls.ts'
import { asObject, asText, isId, readList } from './json-values.ts'

type VersionAnswer = { version: string; date: number | null }

/** Every Chatwoot tells any visitor its version. The Date header shows its clock in whole seconds. */
export const versionCall: Call<VersionAnswer> = {
  method: 'GET',
  path: '/api',
  isGlobal: true,
  isPublic: true,
  about: 'version',
  read: (json, { headers }) => {
    const version = asText(asObject(json)['version'])
    if (version === null) return undefined
    const date = Date.parse([headers['date']].flat()[0] ?? '')
    return { version, date: Number.isNaN(date) ? null : date }
  },
}

/** The role in this account. The `role` of the profile itself belongs to the account that its owner opened last. */
export function readRole(value: unknown, accountId: number): { role: string | null } | undefined {
  const { accounts } = asObject(value)
  if (!Array.isArray(accounts)) return undefined
  const own = accounts.map(asObject).find(({ id }) => id === accountId)
  return { role: asText(own?.['role']) }
}

export function readInbox(value: unknown): InboxSettings | undefined {
  const {
    id,
    name,
    channel_type: kind,
    webhook_url: webhookUrl,
    secret,
    lock_to_single_conversation: isLocked,
  } = asObject(value)
  if (!isId(id)) return undefined
  return {
    id,
    name: asText(name) ?? '',
    isApi: kind === 'Channel::Api',
    webhookUrl: asText(webhookUrl) ?? '',
    secret: asText(secret),
    isLockedToSingleConversation: isLocked === true,
  }
}

export function readInboxes(value: unknown): InboxSettings[] | undefined {
  return readList(asObject(value)['payload'], readInbox)
}

export function readMemberIds(value: unknown): number[] | undefined {
  return readAgentIds(asObject(value)['payload'])
}

export function readAgentIds(value: unknown): number[] | undefined {
  return readList(value, (each) => {
    const { id } = asObject(each)
    return isId(id) ? id : undefined
  })
}

/** The titles of the labels of a conversation. */
export function readTitles(value: unknown): string[] | undefined {
  return readList(asObject(value)['payload'], (title) => asText(title) ?? undefined)
}

/** The titles of the labels that an account has. */
export function readLabels(value: unknown): string[] | undefined {
  return readList(asObject(value)['payload'], (label) => asText(asObject(label)['title']) ?? undefined)
}

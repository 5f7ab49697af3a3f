// Rows and keys that tests start from.

import { randomUUID } from 'node:crypto'
import type { AuditRecord } from '../../src/core/audit.ts'
import type { TenantSettings } from '../../src/core/tenant.ts'
import { blankInstance, toNewColumns } from '../../src/storage/stores/accounts/instance-rows.ts'
import type { InstanceRow } from '../../src/storage/stores/accounts/instance-rows.ts'
import type { NewOutboxRow } from '../../src/storage/stores/messages/outbox-rows.ts'
import type { NetworkEvent } from '../../src/core/message.ts'
import type { UsageBatch } from '../../src/storage/stores/ledger/usage-store.ts'

export const sampleTenant: TenantSettings = {
  baseUrl: 'https://desk.example',
  accountId: 3,
  inboxId: 7,
  apiToken: 'canary-api-token',
  webhookSecret: 'canary-webhook-secret',
}

export function sampleAudit(overrides: Partial<AuditRecord> = {}): AuditRecord {
  return { at: 1000, actor: 'api', action: 'tenant.upsert', ...overrides }
}

export function sampleInstance(name: string, overrides: Partial<InstanceRow> = {}): InstanceRow {
  return { ...blankInstance(name, 1000), ...overrides }
}

/** The same as columns, for tests that write to the table themselves. */
export function sampleInstanceColumns(name: string, overrides: Partial<InstanceRow> = {}) {
  return toNewColumns(sampleInstance(name, overrides))
}

/** Counts that were never stored before. */
export function usageBatch(rows: UsageBatch['rows']): UsageBatch {
  return { id: randomUUID(), at: 1000, rows }
}

/** A message of the instance `shop` that need not wait. */
export function sampleOutboxRow(id: string, overrides: Partial<NewOutboxRow> = {}): NewOutboxRow {
  return {
    id,
    kind: 'message',
    instance: 'shop',
    ownerTag: 'acme',
    inboxId: 7,
    destination: 'https://desk|1|7',
    chatId: 'chat',
    remoteJid: '5511888880001@s.whatsapp.net',
    conversationId: 5,
    messageId: null,
    isWaiting: false,
    isDrained: false,
    expiresAt: null,
    fingerprint: null,
    createdAt: 1000,
    payload: { type: 'message', content: 'hello', attachments: [], inReplyTo: null, agentName: null },
    ...overrides,
  }
}

/** A text of a customer. */
export function sampleEvent(id: string): NetworkEvent {
  const chat = { kind: 'person' as const, phone: '5511988887777', lid: null }
  const rest = { pushName: null, quote: null, mentions: [], ad: null, secret: null }
  const content = { type: 'text' as const, text: 'hello' }
  return { id, at: 5, chat, sender: chat, fromMe: false, kind: 'message', content, ...rest }
}

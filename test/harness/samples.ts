// Rows and keys that tests start from.

import type { AuditRecord } from '../../src/core/audit.ts'
import type { TenantSettings } from '../../src/core/tenant.ts'
import type { NewInstanceRow } from '../../src/storage/schema.ts'

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

export function sampleInstance(name: string, overrides: Partial<NewInstanceRow> = {}): NewInstanceRow {
  return {
    name,
    owner_tag: '',
    state: 'disconnected',
    jid: null,
    last_jid: null,
    session_id: null,
    pairing_session_id: null,
    inbox_id: 0,
    events_webhook_url: '',
    events_webhook_subscribers: '[]',
    spamguard_enabled: 0,
    spamguard_blocks: 0,
    last_qr_msg_id: 0,
    last_error: null,
    created_at: 1000,
    paired_at: null,
    ready_at: null,
    last_event_at: null,
    ...overrides,
  }
}

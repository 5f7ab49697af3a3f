// Rows and keys that tests start from.

import type { AuditRecord } from '../../src/core/audit.ts'
import type { TenantSettings } from '../../src/core/tenant.ts'
import { blankInstance } from '../../src/storage/schema.ts'
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
  return { ...blankInstance(name, 1000), ...overrides }
}

// The entries of the audit log: who did what to which instance or tenant, never a secret.

import type { InstanceName } from './ids.ts'

export type AuditAction =
  | 'instance.create'
  | 'instance.patch'
  | 'instance.delete'
  | 'instance.paired'
  | 'tenant.upsert'
  | 'tenant.patch'
  | 'tenant.delete'
  | 'outbox.enqueue'
  | 'outbox.expire'
  | 'outbox.failed'
  | 'backend.boot'

export type AuditRecord = {
  at: number
  actor: 'api' | 'system'
  action: AuditAction
  instance?: InstanceName
  ownerTag?: string
  target?: string
  metadata?: Readonly<Record<string, string | number | boolean | readonly string[]>>
}

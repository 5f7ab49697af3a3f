// The entries of the audit log: who did what to which instance or tenant, never a secret.

import type { InstanceName } from './ids.ts'

export type AuditAction =
  | 'instance.create'
  | 'instance.patch'
  | 'instance.delete'
  | 'instance.paired'
  /** A helpdesk inbox was created or adopted for the instance. */
  | 'instance.inbox'
  /** A logout was asked for. */
  | 'instance.logout'
  /** WhatsApp confirmed a logout after the caller was answered. */
  | 'instance.logout_told'
  /** WhatsApp did not confirm a logout within 30 days. */
  | 'instance.logout_expired'
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
  /** An entry with a key is stored once, even if its write is repeated. */
  key?: string
  metadata?: Readonly<Record<string, string | number | boolean | readonly string[]>>
}

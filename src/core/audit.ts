// The entries of the audit log: who did what to which instance or tenant, never a secret.

import type { InstanceName } from './ids.ts'

/** What a caller of the API did to a group. */
export type GroupAction =
  | 'group.create'
  | 'group.name'
  | 'group.topic'
  | 'group.locked'
  | 'group.announce'
  | 'group.participants'
  | 'group.leave'
  /** The invite link was replaced. */
  | 'group.invite'
  | 'group.picture'
  | 'group.requests'

export type AuditAction =
  | 'instance.create'
  | 'instance.patch'
  | 'instance.delete'
  | 'instance.paired'
  /** A helpdesk inbox was created or adopted for the instance. */
  | 'instance.inbox'
  /** A caller asked to take over what another bridge wrote. */
  | 'instance.adopt'
  /** A logout was asked for. */
  | 'instance.logout'
  /** WhatsApp confirmed a logout after the caller was answered. */
  | 'instance.logout_told'
  /** WhatsApp did not confirm a logout within 30 days. */
  | 'instance.logout_expired'
  | GroupAction
  /** A caller asked for an import of history. */
  | 'history.import'
  /** A repair asked the helpdesk to merge two contacts. The target is the id of the contact that stays. */
  | 'contact.merge'
  /** A caller asked for a repair of the contacts. */
  | 'contacts.repair'
  /** A caller asked for an import of the address book. */
  | 'contacts.import'
  /** A caller cancelled a job. */
  | 'job.cancel'
  | 'tenant.upsert'
  | 'tenant.patch'
  | 'tenant.delete'
  | 'outbox.enqueue'
  | 'outbox.expire'
  | 'outbox.failed'
  /** A caller asked for a backup of the database. The target is the file. */
  | 'backup.make'
  | 'backend.boot'
  /** A process took over a database that comes from a backup. */
  | 'backend.restored'

/** Who asks for a change. api: a caller with the token. dashboard: a person who signed in there. */
export type Caller = 'api' | 'dashboard'

export type AuditRecord = {
  at: number
  /** system: the service itself. */
  actor: Caller | 'system'
  action: AuditAction
  instance?: InstanceName
  ownerTag?: string
  target?: string
  /** An entry with a key is stored once, even if its write is repeated. */
  key?: string
  metadata?: Readonly<Record<string, string | number | boolean | readonly string[]>>
}

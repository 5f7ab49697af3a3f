// What the inbound path is created with, and what it asks about instances.

import { parseChat } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import type { ChatShown } from '../../bridge/inbound/row-finisher.ts'
import type { Identities } from '../../bridge/inbound/destination-router.ts'
import type { CallOutcomeOf } from '../../core/message.ts'
import type { SettingsOf } from '../../core/chosen-settings.ts'
import type { Downstream, InboxAccess } from '../../core/downstream.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Traces } from '../../core/trace/traces.ts'
import type { Network } from '../../core/network.ts'
import type { Duties } from '../../core/nodes/duties.ts'
import type { Holds } from '../../core/nodes/hold.ts'
import type { Config } from '../../config/config.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Metrics } from '../../ledger/metrics.ts'
import type { Usage } from '../../ledger/usage.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Database } from '../../storage/database.ts'
import { InboxStore } from '../../storage/stores/messages/inbox-store.ts'
import { MessageMapStore } from '../../storage/stores/messages/message-map-store.ts'
import { OfferStore } from '../../storage/stores/messages/offer-store.ts'
import { HeaderStore } from '../../storage/stores/messages/header-store.ts'
import { ContactStore } from '../../storage/stores/people/contact-store.ts'
import { OpeningStore } from '../../storage/stores/people/opening-store.ts'
import { PeopleStore } from '../../storage/stores/people/people-store.ts'

export type InboundParts = {
  config: Config
  settingsOf: SettingsOf
  clock: Clock
  log: Log
  database: Database
  holds: Holds
  duties: Duties
  /** The time of new ids of rows. */
  idClock?: Pick<Clock, 'now'>
  instances: Pick<InstanceRegistry, 'find' | 'list'>
  network: Pick<Network, 'download' | 'unseal'>
  downstream: Downstream
  routing: { accessOf(record: { ownerTag: string; inboxId: number }): Promise<InboxAccess | null> }
  identities: Identities
  metrics: Metrics
  usage: Usage
  callOutcomeOf: CallOutcomeOf
  traces: Traces
  /** Called when the helpdesk has a message of a chat. */
  onShown?: ChatShown
  /** Called when the instance has more or fewer rows in its inbox. */
  onCounted?: ((instance: InstanceName) => void) | undefined
  /** Called with a destination, as operators see it, that is held or open again. */
  onHeldChanged?: ((destination: string) => void) | undefined
  /** Only for tests: replaces the limit of the downstream. */
  lateCommitMs?: number | undefined
}

export type InboundStores = ReturnType<typeof createStores>

export function createStores(database: Database) {
  return {
    inbox: new InboxStore(database),
    map: new MessageMapStore(database),
    offers: new OfferStore(database),
    headers: new HeaderStore(database),
    contacts: new ContactStore(database),
    openings: new OpeningStore(database),
    people: new PeopleStore(database),
  }
}

export function lateCommitMsOf({ lateCommitMs, downstream }: InboundParts): number {
  return lateCommitMs ?? downstream.limits.lateCommitMs
}

export async function accessOf(parts: InboundParts, instance: InstanceName): Promise<InboxAccess | null> {
  const record = recordOf(parts, instance)
  return record ? parts.routing.accessOf(record) : null
}

export function sessionOf({ instances }: InboundParts, instance: InstanceName) {
  return instances.find(instance)?.openSession
}

export function recordOf({ instances }: InboundParts, instance: InstanceName) {
  return instances.find(instance)?.record
}

export function ownPerson(parts: InboundParts, instance: InstanceName): Person {
  const own = parseChat(recordOf(parts, instance)?.jid ?? '')
  return own?.kind === 'person' ? own : { phone: null, lid: null }
}

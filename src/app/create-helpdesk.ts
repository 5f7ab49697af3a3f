// Creates the helpdesk side: the client, and the notices that agents see there.

import type { Base } from './base.ts'
import type { SettingsOf } from '../core/chosen-settings.ts'
import type { Traces } from '../core/trace/traces.ts'
import type { Downstream } from '../core/downstream.ts'
import type { DestinationKey, InstanceName } from '../core/ids.ts'
import type { HelpdeskDatabase } from '../core/helpdesk/helpdesk-database.ts'
import { ChatwootDownstream } from '../downstream/chatwoot-downstream.ts'
import { ChatwootDatabase } from '../downstream/database/chatwoot-database.ts'
import { drawQr } from '../http/qr-picture.ts'
import type { InstanceRegistry } from '../instances/instance-registry.ts'
import { HelpdeskNotices } from '../lifecycle/helpdesk-notices.ts'
import type { Routing } from '../tenants/routing.ts'

export function createDownstream({ config, clock, stack }: Base, traces: Traces): Downstream {
  const { timeout: timeoutMs, egressAllow } = config.downstream
  const { mediaMaxBytes } = config.inbound
  return stack.use(new ChatwootDownstream({ clock, timeoutMs, egressAllow, mediaMaxBytes, traces }))
}

/** Null without DOWNSTREAM_DB_URL. */
export function createHelpdeskDatabase({ config, log, stack }: Base): HelpdeskDatabase | null {
  const { databaseUrl: url, baseUrl } = config.downstream
  return url === null || baseUrl === null ? null : stack.use(new ChatwootDatabase({ url, baseUrl, log }))
}

type NoticeParts = {
  settingsOf: SettingsOf
  instances: InstanceRegistry
  routing: Routing
  downstream: Downstream
  askOwner: (instance: InstanceName, destination: DestinationKey) => void
}

/** Undefined when the notices are switched off. */
export function createNotices({ config, clock, log, stack }: Base, parts: NoticeParts): HelpdeskNotices | undefined {
  const { settingsOf, instances, routing, downstream, askOwner } = parts
  const { helpdeskNotices, unreachableGrace } = config.lifecycle
  if (!helpdeskNotices) return undefined
  const inboxOf = async (instance: string) => {
    const record = instances.find(instance)?.record
    const destination = record && (await routing.destinationOf(record))
    return destination ? { key: destination.key, inbox: downstream.helpdesk(destination) } : null
  }
  const find = (instance: string) => instances.find(instance)
  const localeOf = (instance: string) => settingsOf(instance).locale
  const deps = { find, inboxOf, askOwner, draw: drawQr, localeOf, unreachableMs: unreachableGrace, clock, log }
  return stack.use(new HelpdeskNotices(deps))
}

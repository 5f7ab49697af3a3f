// The contact in a helpdesk inbox under which the service itself writes about an instance. Answers of agents to it are for
// the service and never reach the network.

import type { Recipient } from './callback.ts'
import type { InstanceName } from '../ids.ts'

const prefix = 'service-ops-'

/** The identifier of the contact, and its source id in the helpdesk inbox. */
export function operationsContactOf(instance: InstanceName): string {
  return `${prefix}${instance}`
}

/**
 * The instance that an operations contact speaks for; undefined for every other contact. Also when such notices are
 * switched off, and when an agent has given the contact a phone number.
 */
export function namedInstance({
  identifier,
  sourceId,
}: Pick<Recipient, 'identifier' | 'sourceId'>): InstanceName | undefined {
  const own = [sourceId, identifier].find((name) => name?.startsWith(prefix))
  return own?.slice(prefix.length)
}

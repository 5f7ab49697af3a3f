// The contact in an inbox under which the service itself writes about an instance. What agents answer it is for the
// service: it never reaches the network.

import type { Recipient } from './downstream.ts'

const prefix = 'service-ops-'

/** Its identifier, and its source id in the inbox. */
export function operationsContactOf(instance: string): string {
  return `${prefix}${instance}`
}

/** Whether or not such notices are switched on, and also when an agent has given the contact a phone number. */
export function isOperationsContact(recipient: Pick<Recipient, 'identifier' | 'sourceId'>): boolean {
  return namedInstance(recipient) !== undefined
}

/** The instance that an operations contact speaks for; undefined for everybody else. */
export function namedInstance({
  identifier,
  sourceId,
}: Pick<Recipient, 'identifier' | 'sourceId'>): string | undefined {
  const own = [sourceId, identifier].find((name) => name?.startsWith(prefix))
  return own?.slice(prefix.length)
}

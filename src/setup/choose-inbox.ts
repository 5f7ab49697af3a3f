// Decides which helpdesk inbox a set-up is about.

import { BridgeError } from '../core/errors.ts'
import type { AccountRoute } from '../tenants/routing.ts'

/** Who names the helpdesk inbox: the caller, the tenant, the record of the instance, or DOWNSTREAM_INBOX_ID. */
type Source = 'request' | 'tenant' | 'instance' | 'standard'

/**
 * `isInUse`: the instance delivers to this helpdesk inbox already. `isReplaceable`: if the helpdesk does not have it, a new one
 * takes its place.
 */
export type ChosenInbox = { id: number; source: Source; isInUse: boolean; isReplaceable: boolean }

/** Null when no helpdesk inbox is named: then one is searched for by its address, or created. */
export function chooseInbox(
  { inboxes, isStandard }: Pick<AccountRoute, 'inboxes' | 'isStandard'>,
  asked: number | null,
): ChosenInbox | null {
  const { tenant, instance, standard } = inboxes
  if (tenant > 0) {
    if (asked !== null && asked !== tenant) throw outranked(tenant, asked)
    return { id: tenant, source: 'tenant', isInUse: true, isReplaceable: false }
  }
  const inUse = instance > 0 ? instance : standard
  if (asked !== null) return { id: asked, source: 'request', isInUse: asked === inUse, isReplaceable: false }
  if (inUse === 0) return null
  if (instance > 0) return { id: instance, source: 'instance', isInUse: true, isReplaceable: true }
  // The setting is about an inbox of another account, so a tenant need not have one with this id.
  return { id: standard, source: 'standard', isInUse: true, isReplaceable: !isStandard }
}

function outranked(tenant: number, asked: number): BridgeError {
  return new BridgeError(
    'SERVICE_INBOX_OUTRANKED',
    `the tenant of this instance has inbox ${tenant}, which outranks inbox ${asked}: leave inbox_id out, ` +
      'or change downstream_inbox_id of the tenant (0 leaves the choice to the instances)',
  )
}

const cures: Record<Source, string> = {
  request: 'ask for one that exists, or leave inbox_id out for a new one',
  instance: 'ask for one that exists',
  tenant: 'set downstream_inbox_id of the tenant to one that exists, or to 0',
  standard: 'set DOWNSTREAM_INBOX_ID to one that exists, or remove it',
}

export function inboxNotFound({ id, source }: ChosenInbox): BridgeError {
  return new BridgeError('SERVICE_INBOX_NOT_FOUND', `the helpdesk has no inbox ${id}: ${cures[source]}`)
}

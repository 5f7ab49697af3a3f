// Decides what a set-up does with the webhook address that a helpdesk inbox has.

import type { InstanceName } from '../core/ids.ts'
import type { InboxUse } from './inbox-use.ts'
import { isCallable, leadsTo, parseWebhookAddress, shownAddress, webhookUrlOf } from './webhook-address.ts'

type Question = {
  /** What the helpdesk inbox has now. */
  address: string
  name: InstanceName
  publicUrl: string
  /** The instance `name` delivers to this helpdesk inbox already. */
  isInUse: boolean
  /** How the instance that the address names uses the helpdesk inbox. */
  use: InboxUse
}

/** `url` is the address that the helpdesk inbox should have. */
export type AddressVerdict =
  /** Callbacks reach this instance, or another one that shares the helpdesk inbox. */
  | { kind: 'right'; url: string; isShared: boolean }
  /** The address is missing, or leads to a place where this service is not any more. */
  | { kind: 'wrong'; url: string; isShared: boolean }
  /** Something else may hear the callbacks, and would lose them. `where` says what. */
  | { kind: 'taken'; url: string; where: string }

export function judgeAddress({ address, name, publicUrl, isInUse, use }: Question): AddressVerdict {
  const url = webhookUrlOf(publicUrl, name)
  if (!isCallable(address)) return { kind: 'wrong', url, isShared: false }
  const named = parseWebhookAddress(address)
  const isHere = named !== null && leadsTo(named, publicUrl)
  const isOwn = named?.instance === name
  const isShared = !isOwn && use === 'shared'
  if (isHere && (isOwn || isShared)) return { kind: 'right', url: address, isShared }
  if (isHere && use === 'none') return { kind: 'wrong', url, isShared }
  if (isHere) return { kind: 'taken', url, where: `the instance ${named.instance}, which does not use this inbox` }
  // The same path at another host may belong to another service, unless this instance uses the helpdesk inbox already.
  if (named && isInUse && (isOwn || isShared)) {
    return { kind: 'wrong', url: webhookUrlOf(publicUrl, named.instance), isShared }
  }
  return { kind: 'taken', url, where: shownAddress(address) }
}

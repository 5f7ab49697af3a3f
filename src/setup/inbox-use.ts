// Tells how the instance that a webhook address names uses a helpdesk inbox.

import { inboxPlace } from '../core/downstream.ts'
import type { InboxAccess } from '../core/downstream.ts'
import type { InstanceName } from '../core/ids.ts'
import type { Routing } from '../tenants/routing.ts'
import type { InboxUse } from './judge-address.ts'

type Deps = {
  find: (name: InstanceName) => { ownerTag: string; inboxId: number } | undefined
  routing: Pick<Routing, 'accessOf'>
}

export async function inboxUse({ find, routing }: Deps, named: InstanceName, inbox: InboxAccess): Promise<InboxUse> {
  const record = find(named)
  if (!record) return 'none'
  const access = await routing.accessOf(record)
  return access && inboxPlace(access) === inboxPlace(inbox) ? 'shared' : 'other'
}

// Says how an instance of this service uses a helpdesk inbox.

import { inboxPlace } from '../core/downstream.ts'
import type { InboxAccess } from '../core/downstream.ts'
import type { InstanceName } from '../core/ids.ts'
import type { Routing } from '../tenants/routing.ts'

/** `shared`: the instance delivers to this helpdesk inbox. `other`: it does not. `none`: there is no such instance. */
export type InboxUse = 'shared' | 'other' | 'none'

type Deps = {
  find: (name: InstanceName) => Promise<{ ownerTag: string; inboxId: number } | undefined>
  routing: Pick<Routing, 'accessOf'>
}

export async function findInboxUse(
  { find, routing }: Deps,
  instance: InstanceName,
  inbox: Omit<InboxAccess, 'apiToken'>,
): Promise<InboxUse> {
  const record = await find(instance)
  if (!record) return 'none'
  const access = await routing.accessOf(record)
  return access && inboxPlace(access) === inboxPlace(inbox) ? 'shared' : 'other'
}

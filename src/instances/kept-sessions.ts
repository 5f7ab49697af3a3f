// Destroys the sessions that were kept under a name, after a new pairing or a logout.

import type { InstanceName } from '../core/ids.ts'
import type { Network } from '../core/network.ts'
import type { InstanceStore } from '../storage/stores/accounts/instance-store.ts'

/** Sessions of deleted instances can be resumed for this long. */
export const keepSessionsMs = 30 * 86_400_000

type Deps = {
  instances: Pick<InstanceStore, 'keptSessions' | 'dropKeptSessions'>
  network: Pick<Network, 'forget'>
  epoch: () => number
}

export async function destroyKeptSessions({ instances, network, epoch }: Deps, name: InstanceName): Promise<void> {
  const kept = await instances.keptSessions(name)
  if (kept.length === 0) return
  await instances.dropKeptSessions(epoch(), name)
  for (const { sessionId } of kept) await network.forget(sessionId)
}

// Logs out the sessions that were kept under a name, after a new pairing or a logout: the phone still lists them.

import type { Hold } from '../core/nodes/hold.ts'
import type { Clock } from '../lib/clock.ts'
import type { InstanceStore } from '../storage/stores/accounts/instance-store.ts'
import type { PendingLogouts } from './pending-logouts.ts'

/** Sessions of deleted instances can be resumed for this long. */
export const keepSessionsMs = 30 * 86_400_000

type Deps = {
  instances: Pick<InstanceStore, 'keptSessions' | 'giveUpKeptSessions'>
  pendingLogouts: Pick<PendingLogouts, 'add'>
  clock: Clock
}

/** Resolves when the logouts are stored. WhatsApp confirms them in the background. */
export async function logOutKeptSessions({ instances, pendingLogouts, clock }: Deps, hold: Hold): Promise<void> {
  const { instance } = hold
  const kept = await instances.keptSessions(instance)
  if (kept.length === 0) return
  const askedAt = clock.now()
  const logouts = kept.map(({ sessionId, ownerTag, networkProxy }) => ({
    ...{ sessionId, instance, ownerTag, askedAt },
    networkProxy,
  }))
  await instances.giveUpKeptSessions(hold, logouts)
  for (const logout of logouts) pendingLogouts.add(logout)
}

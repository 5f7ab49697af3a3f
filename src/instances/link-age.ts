// Decides since when a number counts as linked. Its warm-up counts from there.

import type { InstanceRow } from '../storage/stores/accounts/instance-rows.ts'

/** A number that is linked again within this time keeps its warm-up. */
const keepWarmupMs = 30 * 86_400_000

type LinkAge = Pick<InstanceRow, 'linkedJid' | 'linkedAt' | 'unlinkedAt'>

/** The changes of the record when its number has logged in; undefined when there are none. */
export function linkAgeAfterLogin(
  { jid, pairedAt, linkedJid, unlinkedAt }: Readonly<LinkAge & Pick<InstanceRow, 'jid' | 'pairedAt'>>,
  now: number,
): Partial<LinkAge> | undefined {
  const isKept = linkedJid === jid && (unlinkedAt === null || now - unlinkedAt <= keepWarmupMs)
  if (isKept) return unlinkedAt === null ? undefined : { unlinkedAt: null }
  // Without a number the record is new, or an earlier build wrote it: then the number is linked since its pairing.
  const since = linkedJid === null ? (pairedAt ?? now) : now
  return { linkedJid: jid, linkedAt: since, unlinkedAt: null }
}

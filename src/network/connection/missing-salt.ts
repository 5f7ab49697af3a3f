// Asks once for the salt of an account that was linked before the service could read salts.
//
// The phone hands the salt over when the account is linked. After that the network sends only changes of the app state. So the
// collection that holds the salt is read from its beginning again.

import { saltId } from '../account/nct-salt.ts'
import type { WASocket } from '../library/library.ts'

/** Set when the account has asked. A phone may have no salt. */
const askedId = '__nct_salt_asked'
const collection = 'regular_high'

export async function askForMissingSalt({ authState: { keys }, resyncAppState }: WASocket): Promise<void> {
  const { [saltId]: salt, [askedId]: asked } = await keys.get('tctoken', [saltId, askedId])
  if (salt || asked) return
  const { [collection]: version } = await keys.get('app-state-sync-version', [collection])
  // The library has not read the collection yet. When it does, it reads the salt too.
  if (!version) return
  await keys.set({ 'app-state-sync-version': { [collection]: null } })
  await resyncAppState([collection], false)
  await keys.set({ tctoken: { [askedId]: { token: Buffer.of(1) } } })
}

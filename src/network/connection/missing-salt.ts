// Asks for the salt of an account that was linked before the service could read salts, until there is an answer.
//
// The phone hands the salt over when the account is linked. After that the network sends only changes of the app state. So the
// collection that holds the salt is read from its beginning again.

import { saltId } from '../account/nct-salt.ts'
import type { WASocket } from '../library/library.ts'

/** How far the question is. After an answer it is not asked again, because a phone may have no salt. */
const questionId = '__nct_salt_asked'
const asking = 0
const answered = 1
const collection = 'regular_high'

export async function askForMissingSalt({ authState: { keys }, resyncAppState }: WASocket): Promise<void> {
  const { [saltId]: salt, [questionId]: question } = await keys.get('tctoken', [saltId, questionId])
  if (salt || question?.token[0] === answered) return
  if (!question) {
    const { [collection]: version } = await keys.get('app-state-sync-version', [collection])
    // The library has not read the collection yet. When it does, it reads the salt too.
    if (!version) return
    // In one write: without the version, the next connection must know that the collection is to be read again.
    await keys.set({ 'app-state-sync-version': { [collection]: null }, tctoken: noted(asking) })
  }
  await resyncAppState([collection], false)
  await keys.set({ tctoken: noted(answered) })
}

function noted(step: number): Record<string, { token: Buffer }> {
  return { [questionId]: { token: Buffer.of(step) } }
}

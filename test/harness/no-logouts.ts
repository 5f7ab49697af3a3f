// The pending logouts of a process that has none.

import type { PendingLogoutStore } from '../../src/storage/stores/accounts/pending-logout-store.ts'

const none = () => Promise.resolve([])
const done = () => Promise.resolve()

export const noLogouts = {
  ...{ list: none, listOf: none, listOfDeleted: none, release: done, remove: done },
  claim: () => Promise.resolve('claimed'),
} satisfies Partial<PendingLogoutStore>

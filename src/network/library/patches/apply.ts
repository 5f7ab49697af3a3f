// Applies all patches of the client library, once per process.

import { bindCertificateToKey } from './bound-certificate.ts'
import { hideChatLists } from './chat-lists.ts'
import { useFastAgreements } from './fast-agreements.ts'
import { wrapKeys } from './fast-keys.ts'
import { useFastSignatures } from './fast-signatures.ts'
import { writeHistoryDays } from './history-days.ts'
import { readSalts } from './nct-salts.ts'
import { runJobsAtOnce } from './own-queues.ts'
import { silenceSignalLibrary } from './quiet-console.ts'
import { repairSenderKeys } from './sender-keys.ts'
import { restoreSessionsOnFailure } from './session-restore.ts'
import { shareCloner } from './shared-cloner.ts'

let applied = false

export function applyLibraryPatches(): void {
  if (applied) return
  applied = true
  wrapKeys()
  useFastSignatures()
  useFastAgreements()
  bindCertificateToKey()
  restoreSessionsOnFailure()
  repairSenderKeys()
  runJobsAtOnce()
  readSalts()
  hideChatLists()
  writeHistoryDays()
  shareCloner()
  silenceSignalLibrary()
}

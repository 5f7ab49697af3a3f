// Stores the credentials whenever the library changes them.

import { ignoreRejection } from '../../lib/ignore.ts'
import { isLinked } from '../account/account.ts'
import type { ConnectionKeys } from '../account/connection-keys.ts'
import type { AuthenticationCreds, WASocket } from '../library/library.ts'
import { delayFrames } from './open-socket.ts'

/** The library never trims this list. It only asks whether the list is empty. */
const historyMarksKept = 20

export function saveCredsOnUpdate(socket: WASocket, creds: AuthenticationCreds, keys: ConnectionKeys): void {
  let wasLinked = isLinked(creds)
  socket.ev.on('creds.update', () => {
    creds.processedHistoryMessages.splice(0, creds.processedHistoryMessages.length - historyMarksKept)
    const stored = keys.saveCreds()
    stored.catch(ignoreRejection)
    // The reply that completes a pairing follows. The network may have it only after the credentials are stored.
    if (!wasLinked && isLinked(creds)) delayFrames(socket, stored)
    wasLinked = isLinked(creds)
  })
}

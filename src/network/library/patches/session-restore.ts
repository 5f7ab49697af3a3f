// Corrects libsignal's decryption, which damages sessions that it only tries.
//
// Libsignal tries a message on every session of a contact. It steps the ratchet of each session before it knows whether the
// message fits, and then saves all of them. Every session but the right one is damaged for good. The patch restores a
// session when the attempt fails. WhiskeySockets/Baileys issue 1754 reports the symptom, "Bad MAC".

import { sessionCipherMethods } from '../library.ts'

export function restoreSessionsOnFailure(): void {
  const attempt = sessionCipherMethods.doDecryptWhisperMessage
  sessionCipherMethods.doDecryptWhisperMessage = async function (message, session) {
    const before = session?.serialize()
    try {
      return await attempt.call(this, message, session)
    } catch (error) {
      if (session && before) {
        for (const field of Object.keys(session)) Reflect.deleteProperty(session, field)
        Object.assign(session, session.constructor.deserialize(before))
      }
      throw error
    }
  }
}

// Puts a session back as it was when a message turns out not to be for it.
//
// The library tries a message on every session of a contact and steps the ratchet of each before it knows whether the
// message fits; saving the record then damages all but the right one, for ever.

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

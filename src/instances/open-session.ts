// Opens a session for somebody who may stop waiting: storage that is away can hold up the opening for any time.

import type { Network, NetworkSession, SessionName, SessionSignal } from '../core/network.ts'

/** Rejects when the signal aborts first; what is opened nevertheless is closed again. */
export async function openSession(
  network: Pick<Network, 'open'>,
  name: SessionName,
  stop: AbortSignal,
  onSignal: (signal: SessionSignal) => void,
): Promise<NetworkSession> {
  stop.throwIfAborted()
  const opening = network.open(name, onSignal)
  const stopped = Promise.withResolvers<never>()
  const giveUp = () => {
    stopped.reject(stop.reason)
    opening.then(
      (session) => session.close(),
      () => undefined,
    )
  }
  stop.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([opening, stopped.promise])
  } finally {
    stop.removeEventListener('abort', giveUp)
  }
}

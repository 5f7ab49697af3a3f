// Opens and closes the HTTP listener.

import type { AddressInfo } from 'node:net'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { HttpApp } from '../http-app.ts'
import { explainBusyPort, explainListenFailure } from './explain-listen.ts'
import type { HostAndPort } from './port-holder.ts'

// How long requests in progress may finish after the listener has closed.
const closeDeadlineMs = 5000
// How often a port that another process holds is tried.
const busyPauseMs = 250
// A predecessor that stood still notices within seconds that it has lost the lease. An unrelated program stays.
const adviseEveryMs = 30_000
const busyDeadlineMs = 60_000

/** Returns the URL of the listener; undefined when the port is taken and `tolerateBusy` is set. */
export async function listen(
  app: HttpApp,
  { host, port }: HostAndPort,
  { tolerateBusy = false } = {},
): Promise<string | undefined> {
  try {
    await app.listen({ host, port })
  } catch (cause) {
    if (tolerateBusy && (cause as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined
    throw (await explainListenFailure({ host, port }, cause)) ?? cause
  }
  const { address, family, port: bound } = app.server.address() as AddressInfo
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`
  app.log.info({ url }, 'http listening')
  return url
}

/** Tries until the port is free or the signal aborts, for a minute at most. Returns the URL of the listener. */
export async function listenWhenFree(
  app: HttpApp,
  place: HostAndPort,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<string> {
  app.log.warn({ port: place.port }, 'the port is taken, listening when it is free')
  const startedAt = clock.monotonic()
  let adviseAt = startedAt + adviseEveryMs
  while (!signal.aborted) {
    const isLast = clock.monotonic() - startedAt >= busyDeadlineMs
    const url = await listen(app, place, { tolerateBusy: !isLast })
    if (url !== undefined) return url
    if (clock.monotonic() >= adviseAt) {
      app.log.error({ advice: await explainBusyPort(place) }, 'the port is still taken')
      adviseAt += adviseEveryMs
    }
    await sleep(clock, busyPauseMs, signal)
  }
  throw new Error('stopped while waiting for the port')
}

/** Stops listening, lets running requests finish, and cuts those that take too long. */
export async function closeServer(app: HttpApp): Promise<void> {
  const cut = setTimeout(() => {
    app.server.closeAllConnections()
  }, closeDeadlineMs)
  try {
    await app.close()
  } finally {
    clearTimeout(cut)
  }
}

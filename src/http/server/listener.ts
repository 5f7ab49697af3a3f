// Opens and closes the HTTP listener.

import type { AddressInfo } from 'node:net'
import type { HttpApp } from '../http-app.ts'

// How long requests in progress may finish after the listener has closed.
const closeDeadlineMs = 5000

type Place = { host: string; port: number }

/** Returns the URL of the listener; undefined when the port is taken and `tolerateBusy` is set. */
export async function listen(
  app: HttpApp,
  { host, port }: Place,
  { tolerateBusy = false } = {},
): Promise<string | undefined> {
  try {
    await app.listen({ host, port })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause
    if (tolerateBusy) return undefined
    throw new Error(`PORT=${port} on ${host} is taken by another program: stop it or set PORT`, { cause })
  }
  const { address, family, port: bound } = app.server.address() as AddressInfo
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`
  app.log.info({ url }, 'http listening')
  return url
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

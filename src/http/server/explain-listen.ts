// Explains why the HTTP server cannot listen: one sentence with the setting and the cure.

import { StartError } from '../../lib/start-error.ts'
import { thisUser } from '../../lib/process/this-user.ts'
import { findPortHolder } from './port-holder.ts'
import type { HostAndPort } from './port-holder.ts'

/** Ports below this one belong to the administrator on most systems. */
const firstFreePort = 1024

const unknownHost = ({ host }: HostAndPort) =>
  `HOST=${host} is no known name: set HOST to an address of this machine, or to 0.0.0.0 for all of them`

/** By the code of the system. */
const explanations: Record<string, (where: HostAndPort) => string | Promise<string>> = {
  EADDRINUSE: explainBusyPort,
  EACCES: explainForbiddenPort,
  EADDRNOTAVAIL: ({ host }) =>
    `HOST=${host} is no address of this machine: set HOST to one of its addresses, or to 0.0.0.0 for all of them`,
  EAFNOSUPPORT: ({ host }) => `HOST=${host} is an IPv6 address and this machine has no IPv6: set HOST to 0.0.0.0`,
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
}

/** Undefined when the failure has no sentence. */
export async function explainListenFailure(where: HostAndPort, cause: unknown): Promise<StartError | undefined> {
  const { code = '' } = cause as NodeJS.ErrnoException
  const sentence = await explanations[code]?.(where)
  return sentence === undefined ? undefined : new StartError(sentence, { cause })
}

export async function explainBusyPort(where: HostAndPort): Promise<string> {
  const holder = await findPortHolder(where)
  const taken = `PORT=${where.port} on ${where.host} is taken by`
  return holder === undefined
    ? `${taken} another program: stop it or set PORT`
    : `${taken} Causeway ${holder.version}, which answers there: stop that process, or set another PORT`
}

function explainForbiddenPort({ port }: HostAndPort): string {
  const who = thisUser()
  if (port >= firstFreePort) return `PORT=${port} is not allowed for ${who}: set another PORT`
  const cure = `set PORT to ${firstFreePort} or more and put a proxy in front, or grant CAP_NET_BIND_SERVICE`
  return `PORT=${port} is below ${firstFreePort} and not allowed for ${who}: ${cure}`
}

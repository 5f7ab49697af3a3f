// Which requests only the node that holds the instance can answer, and how long it may take.

import type { FastifyRequest, RouteOptions } from 'fastify'
import type { InstanceName } from '../../core/ids.ts'
import { instanceNamePattern } from '../../core/instance.ts'

const instancePath = '/api/instances/:name'
const callbackPath = `${instancePath}/webhook`
const waitPath = `${instancePath}/wait-ready`
const importPaths = ['import', 'import-all'].map((each) => `${instancePath}/history/${each}`)
const restartPath = `${instancePath}/restart`

/** Answered from the database by any node, when they only read. */
const readFromDatabase = ['state', 'deliveries', 'outbox', 'parked'].map((each) => `${instancePath}/${each}`)

/** Chatwoot hangs up after 5 s. What is left is enough to ask another node, or to store the callback here. */
const callbackMs = 1500
/** A wait ends after 600 s at the latest. */
const waitMs = 610_000
/** An import may take days, and its owner answers when it has ended. */
const importMs = Infinity
/** The slowest of the others ask WhatsApp or the helpdesk several questions. */
const otherMs = 120_000

const validName = new RegExp(instanceNamePattern)

type Route = { method: RouteOptions['method']; url: string }

export function isOwnerRoute({ method, url }: Route): boolean {
  if (url !== instancePath && !url.startsWith(`${instancePath}/`)) return false
  const isReading = [method].flat().every((each) => each === 'GET' || each === 'HEAD')
  return !(isReading && readFromDatabase.includes(url))
}

/** Undefined when any node can answer. A name that is not valid is refused by the route. */
export function instanceOf({ method, params, routeOptions: { url } }: FastifyRequest): InstanceName | undefined {
  if (url === undefined || !isOwnerRoute({ method, url })) return undefined
  const { name } = params as { name: string }
  return validName.test(name) ? name : undefined
}

export function isCallback(url: string): boolean {
  return url === callbackPath
}

/**
 * The owner answers after minutes or later: when the instance is ready, or when an import has ended. What the client is told when
 * this node stops meanwhile. Undefined for other requests, which may finish.
 */
export function stopAdviceOf(url: string): string | undefined {
  if (importPaths.includes(url)) return 'this node stops; the import goes on: GET /api/jobs shows it'
  return url === waitPath ? 'the service stops; ask again when it has started' : undefined
}

/** Whether the request says that an instance which kills its nodes is to be opened again. */
export function endsQuarantine(url: string): boolean {
  return url === restartPath
}

export function deadlineOf(url: string): number {
  if (url === callbackPath) return callbackMs
  if (importPaths.includes(url)) return importMs
  return url === waitPath ? waitMs : otherMs
}

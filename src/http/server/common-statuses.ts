// Which error statuses the server itself may give for a route, before or beside the handler. The OpenAPI document adds
// them to those that the route declares.

import type { RouteOptions } from 'fastify'
import { isCallback, isOwnerRoute } from '../forwarding/owner-routes.ts'

const bodyless = ['GET', 'HEAD']

type Route = Pick<RouteOptions, 'method' | 'url' | 'config' | 'schema'>

export function commonStatuses({ method, url, config, schema }: Route): number[] {
  const readsBody = [method].flat().some((each) => !bodyless.includes(each))
  const checksInput = readsBody || schema?.params !== undefined || schema?.querystring !== undefined
  const isLimited = config?.unlimited !== true
  return [
    ...when(checksInput, 400),
    ...when(config?.public !== true, 401),
    ...when(readsBody, 408, 413),
    ...when(schema?.body !== undefined || config?.form !== undefined, 415),
    ...when(isLimited, 429),
    500,
    // A standby and a process under load answer nothing but health and metrics.
    ...when(isLimited || readsBody, 503),
    // Another node holds the instance and does not answer. A callback is stored here then.
    ...when(config?.handsOver ?? (isOwnerRoute({ method, url }) && !isCallback(url)), 504),
  ]
}

function when(holds: boolean, ...statuses: readonly number[]): readonly number[] {
  return holds ? statuses : []
}

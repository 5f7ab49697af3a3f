// Instances can share a helpdesk inbox. The instance that owns a conversation is the one that speaks in it.

import type { InstanceName } from '../../core/ids.ts'
import type { SendContextStore } from '../../storage/stores/messages/send-context-store.ts'
import type { Route } from './route.ts'

/** Undefined when there is no instance of this name. */
export type RouteOf = (instance: InstanceName) => Promise<Route | undefined>

/** The route of the owner of a conversation. */
export type OwnerOf = (route: Route, conversationId: number | null) => Promise<Route>

export function createOwnerOf(store: Pick<SendContextStore, 'read'>, routeOf: RouteOf): OwnerOf {
  return async (route, conversationId) => {
    const { destination, sender } = route
    if (!destination || conversationId === null) return route
    const conversation = { destination: destination.key, conversationId }
    const { owner } = await store.read({ instance: sender.name, chatId: null, callback: null, ...conversation })
    return routeOfOwner(routeOf, route, owner)
  }
}

/** The route itself, unless another instance with the same destination owns the conversation. */
export async function routeOfOwner(routeOf: RouteOf, route: Route, owner: InstanceName | undefined): Promise<Route> {
  if (!route.destination || owner === undefined || owner === route.sender.name) return route
  const other = await routeOf(owner)
  return other?.destination?.key === route.destination.key ? other : route
}

// Inboxes can be shared: the instance that holds a conversation is the one that speaks in it.

import type { SendContextStore } from '../../storage/stores/messages/send-context-store.ts'
import type { Route } from './route.ts'

type Deps = {
  store: Pick<SendContextStore, 'read'>
  /** The record of an instance, and where it belongs; undefined when there is none. */
  routeOf: (instance: string) => Promise<Route | undefined>
}

export type OwnerOf = (route: Route, conversationId: number | null) => Promise<Route>

export function createOwnerOf({ store, routeOf }: Deps): OwnerOf {
  return async (route, conversationId) => {
    const { destination, sender } = route
    if (!destination || conversationId === null) return route
    const here = { instance: sender.name, chat: null, destination: destination.key, conversationId, callback: null }
    const { owner } = await store.read(here)
    if (owner === undefined || owner === sender.name) return route
    const other = await routeOf(owner)
    return other?.destination?.key === destination.key ? other : route
  }
}

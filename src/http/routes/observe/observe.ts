// The routes behind the pages of the dashboard that show what goes on.

import type { HttpApp } from '../../http-app.ts'
import { addEventsRoute } from './events.ts'
import type { EventsDeps, WatchAccess } from './events.ts'
import { addNodesRoute } from './nodes.ts'
import type { NodesDeps } from './nodes.ts'
import { addOverviewRoute } from './overview.ts'
import type { OverviewDeps } from './overview.ts'
import { addStatesRoute } from './states.ts'
import type { StatesDeps } from './states.ts'

export type ObserveDeps = { events: EventsDeps; overview: OverviewDeps; states: StatesDeps; nodes: NodesDeps }

export function addObserveRoutes(
  app: HttpApp,
  { events, overview, states, nodes }: ObserveDeps,
  watchAccess: WatchAccess,
): void {
  addOverviewRoute(app, overview)
  addStatesRoute(app, states)
  addNodesRoute(app, nodes)
  addEventsRoute(app, events, watchAccess)
}

// Control routes of time. The network and the helpdesk share one clock.
import type { SimWorld } from '../sim-world.ts'
import type { RouteTable } from './route-table.ts'

export function clockRoutes(world: SimWorld): RouteTable {
  const show = (): { now: string } => ({ now: new Date(world.network.clock.now()).toISOString() })
  return {
    'GET /clock': show,
    'POST /clock': async ({ body }) => {
      await world.advance(body.whole('advance_ms', { min: 0 }))
      return show()
    },
  }
}

// On SQLite one process holds every instance.

import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { Arrivals } from '../../instances/service/arrivals.ts'
import type { InstanceSupply } from '../running-app.ts'

export function createSoleSupply(instances: InstanceRegistry): InstanceSupply {
  return {
    prepare: () => Promise.resolve(),
    take: async () => {
      await instances.load()
      await instances.takeAll()
    },
    boot: async () => {
      await instances.resume()
      await instances.boot()
    },
    giveAway: () => Promise.resolve(),
    hasPeers: () => false,
    othersGoOn: () => false,
  }
}

export function createSoleArrivals(instances: InstanceRegistry): Arrivals {
  return {
    begin: () => ({ [Symbol.dispose]: () => undefined }),
    seek: () => Promise.resolve(),
    arrive: (row) => Promise.resolve(instances.take(row)),
    departed: () => undefined,
    look: () => undefined,
  }
}

// A node beside the service of a test, on the same PostgreSQL. It holds no instance. With TEST_STRANGER=1 the requests of tests go
// to it, so that every answer comes from a node that is not the owner.

import { createApp } from '../../src/app/app.ts'
import type { App, Overrides } from '../../src/app/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { EngineName } from '../../src/storage/database.ts'
import { freePort } from './free-port.ts'

export const hasStranger = process.env['TEST_STRANGER'] === '1'

/** The `skip` option of a test about what each node has for itself: its counts, its health, the reads that it saves. */
export const perNode = hasStranger && 'the owner and the node that is asked have this each for itself'

/** The `skip` option of a test over many hours on the clock. */
export const manyHours =
  hasStranger && 'nodes ask the database twice a second, which takes minutes for hours on the clock'

/** The engine of a test that names none. */
export const usualEngine: EngineName = hasStranger ? 'postgres' : 'sqlite'

const secret = 'the secret of all nodes of one test'

/** Placement gives every instance to the node with the greater capacity. */
const capacities = { owner: '100000', stranger: '1' }

export async function nodeSettings(role: keyof typeof capacities = 'owner'): Promise<Record<string, string>> {
  return {
    SERVICE_NODE_LISTEN: `127.0.0.1:${await freePort()}`,
    SERVICE_NODE_SECRET: secret,
    SERVICE_NODE_CAPACITY: capacities[role],
  }
}

type Settings = Record<string, string>

/** Placement gives no instance to a node whose capacity is 0, also while the owner stops. */
export async function startStranger(settings: Settings, overrides: Overrides): Promise<App> {
  await using stack = new AsyncDisposableStack()
  const config = loadConfig({ ...settings, ...(await nodeSettings()) })
  const nodes = { ...config.nodes, capacity: 0 }
  const app = stack.use(await createApp({ ...config, nodes }, overrides))
  // They would find nothing to do, at every tick of a clock that a test moves by hours.
  for (const worker of app.workers.values()) await worker[Symbol.asyncDispose]()
  await app.start()
  stack.move()
  return app
}

// A node beside the service of a test, on the same PostgreSQL. It holds no instance. With TEST_STRANGER=1 the requests of tests go
// to it, so that every answer comes from a node that is not the owner.

import { createApp } from '../../src/app/app.ts'
import type { App, Overrides } from '../../src/app/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { EngineName } from '../../src/storage/database.ts'
import { freePort } from './free-port.ts'

export const hasStranger = process.env['TEST_STRANGER'] === '1'

/** The engine of a test that names none. */
export const usualEngine: EngineName = hasStranger ? 'postgres' : 'sqlite'

const secret = 'the secret of all nodes of one test'

/** Placement gives every instance to the node with the greater capacity. */
const capacities = { owner: '100000', stranger: '1' }

export async function nodeSettings(role: keyof typeof capacities): Promise<Record<string, string>> {
  return {
    SERVICE_NODE_LISTEN: `127.0.0.1:${await freePort()}`,
    SERVICE_NODE_SECRET: secret,
    SERVICE_NODE_CAPACITY: capacities[role],
  }
}

type Settings = Record<string, string>

/** The owner must have taken its instances. */
export async function startStranger(settings: Settings, overrides: Overrides): Promise<App> {
  await using stack = new AsyncDisposableStack()
  const config = loadConfig({ ...settings, ...(await nodeSettings('stranger')) })
  const app = stack.use(await createApp(config, overrides))
  await app.workers.get('setup-watch')?.[Symbol.asyncDispose]()
  await app.start()
  stack.move()
  return app
}

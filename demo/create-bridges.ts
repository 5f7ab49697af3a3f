// Creates the processes of the service: one on SQLite, or several nodes on one PostgreSQL behind a balancer.

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import type { SimWorld } from '../sim/sim-world.ts'
import { BridgeProcess } from './bridge-process.ts'
import { Bridges } from './bridges.ts'
import { Balancer } from './nodes/balancer.ts'
import { startPostgres } from './nodes/demo-postgres.ts'

type Options = {
  world: SimWorld
  directory: string
  /** The certificates of the simulated WhatsApp. */
  caFile: string
  /** How many processes share the accounts. */
  nodes: number
  onChange: () => void
}

/** The processes are not started yet. The end of the demo kills them. */
export async function createBridges(options: Options, end: AsyncDisposableStack): Promise<Bridges> {
  const bridges = options.nodes > 1 ? await createNodes(options, end) : await createOne(options)
  end.defer(() => bridges.end())
  return bridges
}

async function createOne({ world, directory, caFile, onChange }: Options): Promise<Bridges> {
  const [port = 0] = await freePorts(1)
  const environment = { ...environmentOf(world, { port, caFile }), DATABASE_URL: 'file:./demo.db' }
  const bridge = new BridgeProcess({ port, directory, environment, onChange })
  return new Bridges(bridge.url, [bridge])
}

async function createNodes(options: Options, end: AsyncDisposableStack): Promise<Bridges> {
  const { world, directory, caFile, nodes, onChange } = options
  // All at once: one after the other, the same port may be found twice.
  const [port = 0, databasePort = 0, ...ports] = await freePorts(2 + 2 * nodes)
  const shared = {
    ...environmentOf(world, { port, caFile }),
    DATABASE_URL: await startPostgres(directory, databasePort, end),
    SERVICE_NODE_SECRET: randomBytes(32).toString('base64'),
  }
  const processes: BridgeProcess[] = []
  const balancer = new Balancer(() => processes.filter(({ isReady }) => isReady).map((each) => each.port))
  end.defer(() => {
    balancer.end()
  })
  await balancer.listen(port)
  while (processes.length < nodes) {
    const [listen = 0, own = 0] = ports.splice(0, 2)
    // Visitors kill nodes again and again. Cells are for instances that do.
    const environment = { ...shared, SERVICE_NODE_LISTEN: `127.0.0.1:${listen}`, SERVICE_NODE_CELLS: 'false' }
    processes.push(new BridgeProcess({ port: own, directory, environment, onChange }))
  }
  return new Bridges(`http://127.0.0.1:${port}`, processes)
}

function environmentOf(
  { network, helpdesk }: SimWorld,
  { port, caFile }: { port: number; caFile: string },
): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    SERVICE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    SERVICE_NETWORK_URL: network.url,
    SERVICE_NETWORK_ROOT_KEY: network.rootKey.toString('hex'),
    SERVICE_NETWORK_CA: caFile,
    SERVICE_EGRESS_ALLOW: '127.0.0.1',
    DOWNSTREAM_BASE_URL: helpdesk.facts.url,
    DOWNSTREAM_API_TOKEN: helpdesk.facts.api_token,
    DOWNSTREAM_ACCOUNT_ID: String(helpdesk.facts.account_id),
    // The agent also sees the second tick, and a visitor does not wait for a queue that empties slowly.
    SERVICE_DELIVERY_STATUS_SYNC: 'true',
    SERVICE_DRAIN_RATE: '5',
    // The page shows quotes as bubbles.
    SERVICE_QUOTE_STYLE: 'bubble',
  }
}

/** The service must be told its port before it starts, because it keeps the port over a kill. */
async function freePorts(count: number): Promise<number[]> {
  const probes = await Promise.all(Array.from({ length: count }, openProbe))
  const ports = probes.map((probe) => (probe.address() as AddressInfo).port)
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))))
  return ports
}

function openProbe(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      resolve(probe)
    })
  })
}

// Everything that the demo runs: the simulated WhatsApp and Chatwoot in this process, and the real service between them.

import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { calm } from '../sim/helpdesk/settings.ts'
import type { SimPhone } from '../sim/network/accounts/sim-phone.ts'
import type { SimPerson } from '../sim/network/people/sim-person.ts'
import { SimWorld } from '../sim/sim-world.ts'
import { BridgeApi } from './bridge-api.ts'
import { BridgeProcess } from './bridge-process.ts'
import { makeFolder } from './folder.ts'

/** The name of the linked account, as the API knows it. */
export const instance = 'shop'

export class Stage {
  readonly world: SimWorld
  readonly bridge: BridgeProcess
  readonly api: BridgeApi
  /** The phone of the shop, which scans the QR code. */
  readonly phone: SimPhone
  /** The customers. The first one is on the screen. */
  readonly maria: SimPerson
  readonly rui: SimPerson
  readonly #listeners = new Set<() => void>()

  private constructor(world: SimWorld, directory: string, settings: { port: number; caFile: string }) {
    const { network } = world
    this.world = world
    this.phone = network.account({ phone: '5511999990001', name: 'Velo' })
    this.maria = network.person({ phone: '5511988880001', lid: '200000000000001', pushName: 'Maria' })
    this.rui = network.person({ phone: '5511988880002', lid: '200000000000002', pushName: 'Rui' })
    this.bridge = new BridgeProcess({
      port: settings.port,
      directory,
      environment: environmentOf(world, settings),
      onChange: () => {
        this.changed()
      },
    })
    this.api = new BridgeApi(this.bridge.url)
  }

  /**
   * The simulators run when this resolves. The service is not started yet. The end of the demo kills the service and removes
   * its files, also when it comes in the middle of the start. The simulators go with this process.
   */
  static async open(end: AsyncDisposableStack): Promise<Stage> {
    const directory = makeFolder()
    end.defer(() => rm(directory, { recursive: true, force: true }))
    const world = await SimWorld.start({ helpdesk: { quirks: calm, storage: 'disk' } })
    const caFile = join(directory, 'ca.pem')
    await writeFile(caFile, world.network.authority.pem)
    const stage = new Stage(world, directory, { port: await freePort(), caFile })
    end.defer(() => stage.bridge.end())
    return stage
  }

  /** The service answers when this resolves, and the instance has an inbox at the helpdesk and asks to be linked. */
  async begin(): Promise<void> {
    await this.bridge.start()
    await this.api.expect('POST', '/api/instances', { name: instance, inbox: true })
  }

  /** The listener hears of every change that the page may show. */
  subscribe(listener: () => void): void {
    this.#listeners.add(listener)
  }

  changed(): void {
    for (const listener of this.#listeners) listener()
  }

  /** Fails when the service sent something that a simulator does not understand. */
  assertUnderstood(): void {
    const { network, helpdesk } = this.world
    helpdesk.assertNothingRefused()
    const problems = [...network.log.problems, ...network.log.violations]
    if (problems.length > 0) throw new Error(`the simulated WhatsApp did not understand:\n${problems.join('\n')}`)
  }
}

function environmentOf(
  { network, helpdesk }: SimWorld,
  { port, caFile }: { port: number; caFile: string },
): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    DATABASE_URL: 'file:./demo.db',
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
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => {
        resolve(port)
      })
    })
  })
}

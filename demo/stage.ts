// Everything that the demo runs: the simulated WhatsApp and Chatwoot in this process, and the real service between them.

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { calm } from '../sim/helpdesk/settings.ts'
import type { SimPhone } from '../sim/network/accounts/sim-phone.ts'
import type { SimPerson } from '../sim/network/people/sim-person.ts'
import { SimWorld } from '../sim/sim-world.ts'
import { BridgeApi } from './bridge-api.ts'
import type { Bridges } from './bridges.ts'
import { createBridges } from './create-bridges.ts'
import { makeFolder } from './folder.ts'
import { linkBranches } from './nodes/branches.ts'

/** The name of the linked account, as the API knows it. */
export const instance = 'shop'

type Listeners = Set<() => void>

export class Stage {
  readonly world: SimWorld
  readonly bridge: Bridges
  readonly api: BridgeApi
  /** The phone of the shop, which scans the QR code. */
  readonly phone: SimPhone
  /** The customers. The first one is on the screen. */
  readonly maria: SimPerson
  readonly rui: SimPerson
  readonly #listeners: Listeners

  private constructor(world: SimWorld, bridge: Bridges, listeners: Listeners) {
    const { network } = world
    this.world = world
    this.bridge = bridge
    this.#listeners = listeners
    this.phone = network.account({ phone: '5511999990001', name: 'Velo' })
    this.maria = network.person({ phone: '5511988880001', lid: '200000000000001', pushName: 'Maria' })
    this.rui = network.person({ phone: '5511988880002', lid: '200000000000002', pushName: 'Rui' })
    this.api = new BridgeApi(bridge.url)
  }

  /**
   * The simulators run when this resolves. The service is not started yet. The end of the demo kills the service and removes
   * its files, also when it comes in the middle of the start. The simulators go with this process.
   */
  static async open(end: AsyncDisposableStack, nodes = 1): Promise<Stage> {
    const directory = makeFolder()
    end.defer(() => rm(directory, { recursive: true, force: true }))
    const world = await SimWorld.start({ helpdesk: { quirks: calm, storage: 'disk' } })
    const caFile = join(directory, 'ca.pem')
    await writeFile(caFile, world.network.authority.pem)
    const listeners: Listeners = new Set()
    const onChange = () => {
      for (const listener of listeners) listener()
    }
    return new Stage(world, await createBridges({ world, directory, caFile, nodes, onChange }, end), listeners)
  }

  /** The service answers when this resolves, and the instance has an inbox at the helpdesk and asks to be linked. */
  async begin(): Promise<void> {
    await this.bridge.start()
    const { processes } = this.bridge
    await this.api.expect('POST', '/api/instances', { name: instance, inbox: true })
    if (processes.length > 1) await linkBranches(this.world.network, processes)
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

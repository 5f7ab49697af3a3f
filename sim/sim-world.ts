// The whole outside world in one process: a simulated WhatsApp and a simulated Chatwoot with one clock.
import { SimHelpdesk } from './helpdesk/sim-helpdesk.ts'
import type { SimHelpdeskOptions } from './helpdesk/settings.ts'
import { SimNetwork, type SimNetworkOptions } from './network/sim-network.ts'
import { ShiftableClock, type SimClock } from './shiftable-clock.ts'

export type SimWorldOptions = {
  seed?: string
  clock?: SimClock
  network?: Omit<SimNetworkOptions, 'seed' | 'clock'>
  helpdesk?: Omit<SimHelpdeskOptions, 'seed' | 'clock'>
}

export class SimWorld {
  readonly network: SimNetwork
  readonly helpdesk: SimHelpdesk

  private constructor(network: SimNetwork, helpdesk: SimHelpdesk) {
    this.network = network
    this.helpdesk = helpdesk
  }

  static async start(options: SimWorldOptions = {}): Promise<SimWorld> {
    const { seed = 'causeway', clock = new ShiftableClock() } = options
    await using stack = new AsyncDisposableStack()
    const network = stack.use(await SimNetwork.start({ ...options.network, seed, clock }))
    const helpdesk = stack.use(await SimHelpdesk.start({ ...options.helpdesk, seed, clock }))
    stack.move()
    return new SimWorld(network, helpdesk)
  }

  /** Moves the time of the network and the helpdesk forward. It needs the simulator's own clock. */
  async advance(ms: number): Promise<void> {
    await this.helpdesk.advance(ms)
  }

  /** Fails when a client of the network sent something that the simulator does not understand. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.helpdesk[Symbol.asyncDispose]()
    await this.network[Symbol.asyncDispose]()
  }
}

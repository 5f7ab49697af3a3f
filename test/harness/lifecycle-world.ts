// A world on a clock that the test moves, without a linked account, and with subscribers of lifecycle events.

import { owner } from './instance-api.ts'
import { ManualClock } from './manual-clock.ts'
import { lifecycleSecret, SubscriberServer } from './subscriber-server.ts'
import { waitUntil } from './wait-until.ts'
import { World } from './world.ts'
import type { Running, WorldOptions } from './world.ts'

export class LifecycleWorld extends World {
  readonly clock: ManualClock
  readonly subscribers: SubscriberServer

  private constructor(running: Running, clock: ManualClock, subscribers: SubscriberServer) {
    super(running)
    this.clock = clock
    this.subscribers = subscribers
  }

  static override async open(options: Omit<WorldOptions, 'clock' | 'accounts'> = {}): Promise<LifecycleWorld> {
    // Close to the time of day, because the verifier of the signatures looks at it.
    const clock = new ManualClock(Date.now())
    const environment = { SERVICE_LIFECYCLE_SECRET: lifecycleSecret, ...options.environment }
    const running = await World.start({ ...options, environment, clock, accounts: 0 })
    const world = new LifecycleWorld(running, clock, await SubscriberServer.start())
    // The events of this start are over before a test subscribes.
    return world.begin(() => clock.advance(8000))
  }

  /** Time passes in small steps, and what each step sets off gets real time. */
  async advanceUntil(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    await waitUntil(what, async () => {
      if (await holds()) return true
      await this.clock.advance(100)
      return false
    })
  }

  /** Time passes slowly enough for pings to be answered. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 2000) {
      await this.clock.advance(Math.min(left, 2000))
      await this.detail('a')
    }
  }

  async advanceUntilReady(): Promise<void> {
    await this.advanceUntil('a is ready', async () => (await this.detail('a')).state === 'ready')
  }

  override async restartService(environment: Record<string, string> = {}): Promise<void> {
    await super.restartService(environment)
    await this.clock.advance(100)
  }

  /** The connection breaks and no login works. */
  async cut(): Promise<void> {
    this.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
    await this.network.strike({ kind: 'drop', account: owner })
    await this.reaches('a', 'disconnected')
  }

  /** Logins work again; time passes until the next one, which may be a minute away. */
  async restore(): Promise<void> {
    const { clock, network } = this
    network.clearFaults()
    const before = network.loginAttempts
    await waitUntil('another login is tried', async () => {
      await clock.advance(500)
      // A login that was under way may have worked.
      const { state } = await this.detail('a')
      return state === 'ready' || network.loginAttempts > before
    })
    await this.advanceUntilReady()
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]()
    await this.subscribers[Symbol.asyncDispose]()
  }
}

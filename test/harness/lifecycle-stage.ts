// A linked stage on a clock of its own, and subscribers that hear of its events.

import assert from 'node:assert/strict'
import { LinkedStage } from './linked-stage.ts'
import { ManualClock } from './manual-clock.ts'
import type { ServiceOptions } from './service.ts'
import { assertDelivery, lifecycleSecret, SubscriberServer } from './subscriber-server.ts'
import type { Received } from './subscriber-server.ts'
import { waitUntil } from './wait-until.ts'

export const owner = '5511999990001'
export const ownerJid = `${owner}@s.whatsapp.net`

export class LifecycleStage {
  /** Close to the time of day, for the verifier of the signatures looks at that. */
  readonly clock: ManualClock
  readonly linked: LinkedStage
  readonly subscribers: SubscriberServer

  private constructor(clock: ManualClock, linked: LinkedStage, subscribers: SubscriberServer) {
    this.clock = clock
    this.linked = linked
    this.subscribers = subscribers
  }

  static async open(options: Omit<ServiceOptions, 'clock'> = {}): Promise<LifecycleStage> {
    const clock = new ManualClock(Date.now())
    const environment = { SERVICE_LIFECYCLE_SECRET: lifecycleSecret, ...options.environment }
    const linked = await LinkedStage.open({ ...options, environment, clock })
    // The news of this start is over before anybody can have subscribed to it.
    await clock.advance(8000)
    return new LifecycleStage(clock, linked, await SubscriberServer.start())
  }

  /** Time passes a little at a go, with real time for what that sets off. */
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
      await this.linked.detail('a')
    }
  }

  async advanceUntilReady(): Promise<void> {
    await this.advanceUntil('a is ready', async () => (await this.linked.detail('a')).state === 'ready')
  }

  /** Stops the service without a word and starts it again; it may take its time to connect. */
  async restartService(): Promise<void> {
    await this.linked.restartService()
    await this.clock.advance(100)
  }

  /** The connection breaks and no login works. */
  async cut(): Promise<void> {
    this.linked.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
    await this.linked.network.strike({ kind: 'drop', account: owner })
    await this.linked.reaches('a', 'disconnected')
  }

  async restore(): Promise<void> {
    this.linked.network.clearFaults()
    await this.advanceUntilReady()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.linked[Symbol.asyncDispose]()
    await this.subscribers[Symbol.asyncDispose]()
  }
}

/** The delivery is signed and carries exactly these besides what every event carries. */
export function assertPayload(received: Received, expected: Record<string, unknown>): void {
  const { id, occurred_at, version, ...payload } = assertDelivery(received)
  assert.match(id, /^[0-9a-f-]{36}$/)
  assert.match(String(occurred_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.match(String(version), /^\d+\.\d+\.\d+$/)
  assert.deepEqual(payload, expected)
}

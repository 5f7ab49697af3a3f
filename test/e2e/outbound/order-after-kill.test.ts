// kill -9 while the messages of a burst wait: the next process sends them in the order in which they were written.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { engines } from '../../harness/databases.ts'
import type { Answer } from '../../harness/http-request.ts'
import { harshNetwork } from '../../harness/harsh-network.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { chatwootSignatureOf } from '../../harness/signed-callback.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { DeskClient, openChat } from '../../sim-helpdesk/harness/desk-client.ts'
import { WebhookCatcher } from '../../sim-helpdesk/harness/webhook-catcher.ts'
import type { Caught } from '../../sim-helpdesk/harness/webhook-catcher.ts'

/** An agent has written texts to Bob. The test delivers their callbacks. */
class BurstStage {
  readonly world: ProcessWorld
  readonly #bob: SimPerson
  readonly #callbacks: readonly Caught[]

  private constructor(world: ProcessWorld, callbacks: readonly Caught[]) {
    this.world = world
    this.#callbacks = callbacks
    this.#bob = world.network.person({ phone: '5511888880001', lid: '200000000000001', pushName: 'Bob' })
  }

  static async open(engine: EngineName, count: number) {
    await using stack = new AsyncDisposableStack()
    const catcher = stack.use(await WebhookCatcher.start())
    const world = stack.use(await ProcessWorld.open({ engine, network: harshNetwork }))
    const agent = new DeskClient(world.helpdesk)
    const conversation = await openChat(agent, '5511888880001')
    await world.allReady()
    await agent.patch('/inboxes/1', { channel: { webhook_url: catcher.url } })
    const callbacks: Caught[] = []
    for (let n = 0; n < count; n++) {
      await agent.post(`/conversations/${conversation}/messages`, { content: `${n}`, message_type: 'outgoing' })
      callbacks.push(await catcher.waitFor('message_created', ({ content }) => content === `${n}`))
    }
    const owned = stack.move()
    return { stage: new BurstStage(world, callbacks), [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  /** Signed now: on a busy machine the first signature is too old by the time of the delivery. */
  deliver(n: number): Promise<Answer> {
    const { raw } = this.#callbacks[n] as Caught
    const headers = chatwootSignatureOf(raw, this.world.helpdesk.facts.webhook_secret, Date.now())
    return this.world.service.request('POST', '/api/instances/n0/webhook', { body: raw, headers })
  }

  /** The numbers that Bob has received. */
  get received(): number[] {
    const others = this.#bob.messages.entries.filter(({ own }) => !own)
    return others.map(({ message }) => Number(textOfMessage(message)))
  }

  arrived(wanted: readonly number[]): Promise<void> {
    const all = () => wanted.every((n) => this.received.includes(n))
    return waitUntil('all have arrived', all, { instead: () => this.received })
  }
}

// Most of the time passes while processes start and messages wait for their turn.
describe('kill -9 within a burst', { concurrency: true }, () => {
  for (const engine of engines) {
    test(`messages that were stored before their turn leave in order, on ${engine}`, async () => {
      await using opened = await BurstStage.open(engine, 11)
      const { stage } = opened
      await stage.deliver(0)
      await stage.arrived([0])
      // The callback of 1 does not come. The next five wait for it without an answer, and the others are stored.
      for (const n of [2, 3, 4, 5, 6]) stage.deliver(n).catch(() => undefined)
      const stored = await Promise.all([10, 8, 9, 7].map((n) => stage.deliver(n)))
      const refused = stored.filter(({ status }) => status !== 200 && status !== 202)
      assert.deepEqual(refused, [])
      await stage.world.kill()
      await stage.arrived([0, 7, 8, 9, 10])
      assert.deepEqual(
        stage.received,
        stage.received.toSorted((one, two) => one - two),
      )
    })

    test(`messages that wait for the connection leave in order, on ${engine}`, async () => {
      await using opened = await BurstStage.open(engine, 12)
      const { stage } = opened
      const { network, phone } = stage.world
      network.fault({ kind: 'login_failure', code: 503, times: Infinity })
      await network.strike({ kind: 'drop', account: phone.user.phone })
      await stage.world.reaches('n0', (state) => state !== 'ready')
      await stage.deliver(0)
      const answers = await Promise.all([2, 3, 4, 5, 6, 11, 9, 10, 8, 7, 1].map((n) => stage.deliver(n)))
      assert.deepEqual(
        answers.filter(({ status }) => status !== 202),
        [],
      )
      await stage.world.end('SIGKILL')
      network.faults.clear()
      await stage.world.startService()
      const all = Array.from({ length: 12 }, (_, n) => n)
      await stage.arrived(all)
      assert.deepEqual(stage.received, all)
    })
  }
})

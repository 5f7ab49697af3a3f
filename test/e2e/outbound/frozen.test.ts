// A frozen process finds callbacks in its socket on which Chatwoot has given up. The agent was told that they failed.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { engines } from '../../harness/databases.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { DeskClient, openChat } from '../../sim-helpdesk/harness/desk-client.ts'
import type { EngineName } from '../../../src/storage/database.ts'

const texts = Array.from({ length: 8 }, (_, n) => `text ${n}`)

class FrozenStage {
  readonly world: ProcessWorld
  readonly bob: SimPerson
  readonly #agent: DeskClient
  readonly #conversation: number

  private constructor(world: ProcessWorld, agent: DeskClient, conversation: number) {
    this.world = world
    this.#agent = agent
    this.#conversation = conversation
    this.bob = world.network.person({ phone: '5511888880001', lid: '200000000000001', pushName: 'Bob' })
  }

  /** One message has arrived, and the process stood still while the agent wrote the texts. Chatwoot gave up on all of them. */
  static async open(engine: EngineName, environment: Record<string, string> = {}) {
    const world = await ProcessWorld.open({ engine, environment })
    const agent = new DeskClient(world.helpdesk)
    const stage = new FrozenStage(world, agent, await openChat(agent, '5511888880001'))
    await world.allReady()
    const channel = { webhook_url: `${await world.service.ready()}/api/instances/n0/webhook` }
    await agent.patch('/inboxes/1', { channel })
    await stage.write('before')
    await stage.arrived(1)
    world.service.send('SIGSTOP')
    const ids: number[] = []
    for (const text of texts) ids.push(await stage.write(text))
    const writtenAt = performance.now()
    for (const id of ids) await stage.shown(id, /ReadTimeout/)
    // The time of a callback is in whole seconds.
    await waitUntil('the callbacks are old', () => performance.now() - writtenAt > 6500)
    world.service.send('SIGCONT')
    return { stage, ids, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
  }

  async write(content: string): Promise<number> {
    const body = { content, message_type: 'outgoing' }
    return (await this.#agent.post(`/conversations/${this.#conversation}/messages`, body)).body.id
  }

  async retry(id: number): Promise<void> {
    await this.#agent.post(`/conversations/${this.#conversation}/messages/${id}/retry`)
  }

  /** Once the helpdesk shows the message as failed for this reason. */
  async shown(id: number, reason: RegExp): Promise<void> {
    await this.world.helpdesk.waitForMessage(
      undefined,
      ({ id: each, status, contentAttributes: { external_error: error } }) =>
        each === id && status === 'failed' && reason.test(String(error)),
      60_000,
    )
  }

  async arrived(count: number): Promise<(string | undefined)[]> {
    await waitUntil(`${count} have arrived`, () => this.received.length >= count, { instead: () => this.received })
    return this.received
  }

  get received(): (string | undefined)[] {
    return this.bob.messages.entries.filter(({ own }) => !own).map(({ message }) => textOfMessage(message))
  }
}

describe('a process that stood still', { concurrency: 2 }, () => {
  for (const engine of engines) {
    test(`sends none of the messages that failed meanwhile, and Retry sends each once, on ${engine}`, async () => {
      await using opened = await FrozenStage.open(engine)
      const { stage, ids } = opened
      for (const id of ids) await stage.shown(id, /could not take the message in time/)
      await stage.write('after')
      assert.deepEqual(await stage.arrived(2), ['before', 'after'])
      for (const id of ids) await stage.retry(id)
      const received = await stage.arrived(2 + texts.length)
      assert.deepEqual(received.slice(2).sort(), texts.toSorted())
    })
  }

  test('sends all of them if it accepts callbacks of any age', async () => {
    await using opened = await FrozenStage.open('sqlite', { SERVICE_CALLBACK_MAX_AGE: '10m' })
    assert.equal((await opened.stage.arrived(1 + texts.length)).length, 1 + texts.length)
  })
})

// Messages of several parts, of which some are refused and some left in doubt.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SendStep } from '../../../src/bridge/outbound/send/row-sender.ts'
import { attach, shownTo, textFile } from '../../harness/agent-files.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Part = { id: string; state: string }

const three = ['a.txt', 'b.txt', 'c.txt'].map((name) => textFile(name))

class PartsWorld {
  readonly world: AgentWorld
  readonly #hooks: Map<number, () => void>

  private constructor(world: AgentWorld, hooks: Map<number, () => void>) {
    this.world = world
    this.#hooks = hooks
  }

  static async open(environment: Record<string, string> = {}): Promise<PartsWorld> {
    const hooks = new Map<number, () => void>()
    let composed = 0
    const onSendStep = (step: SendStep) => {
      if (step === 'composed') hooks.get(++composed)?.()
      return Promise.resolve()
    }
    const world = await AgentWorld.open({ clock: new FastClock(4), onSendStep, environment })
    return new PartsWorld(world, hooks)
  }

  /** Just before the n-th frame of a message leaves. */
  before(nth: number, work: () => void): void {
    this.#hooks.set(nth, work)
  }

  async row(id: number) {
    const { database } = this.world.service
    const query = database.query.selectFrom('outbox').select(['status', 'parts', 'reason', 'shown'])
    const [row] = await database.read(query.where('message_id', '=', id))
    const parts = JSON.parse(row?.parts ?? '[]') as Part[]
    return { ...row, parts, states: parts.map(({ state }) => state) }
  }

  reaches(id: number, status: string): Promise<void> {
    const instead = () => shownTo(this.world.bob)
    return waitUntil(`the message is ${status}`, async () => (await this.row(id)).status === status, { instead })
  }

  /** Until the helpdesk has confirmed that it failed: only then Retry counts. */
  async fails(id: number): Promise<string> {
    await waitUntil('the failure is confirmed', async () => (await this.row(id)).shown === 'told')
    await this.world.helpdesk.settled()
    const { status, contentAttributes } = await this.world.shown(id, () => true)
    assert.equal(status, 'failed')
    return String(contentAttributes['external_error'])
  }

  async retry(id: number): Promise<void> {
    const { status } = await this.world.agent.post(`/conversations/${this.world.conversation}/messages/${id}/retry`)
    assert.equal(status, 200)
  }

  /** The frame is taken by the network, which never says so: the connection dies first. */
  dieAfterNextFrame(): void {
    const { network, bob, phone } = this.world
    const seen = bob.messages.length
    network.fault({ kind: 'lost_ack' })
    void waitUntil('the frame has arrived', () => bob.messages.length > seen).then(() =>
      network.strike({ kind: 'drop', account: phone.user.phone }),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]()
  }
}

test('three files, the second refused, the connection dying after the third: each arrives once, the second on Retry', async () => {
  await using parts = await PartsWorld.open()
  const { world } = parts
  parts.before(2, () => {
    world.network.fault({ kind: 'ack_error', code: 404 })
  })
  parts.before(3, () => {
    world.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
    parts.dieAfterNextFrame()
  })
  const id = await attach(world, 'all three', three)
  const answered = await world.helpdesk.waitForDelivery('the answer', ({ event }) => event === 'message_created')
  assert.equal(answered.status, 202)
  await parts.reaches(id, 'pending')
  assert.deepEqual((await parts.row(id)).states, ['sent', 'refused', 'unknown'])
  await world.reconnect()
  assert.match(await parts.fails(id), /^part 2 of 3: .*404/)
  const before = await parts.row(id)
  assert.deepEqual(before.states, ['sent', 'refused', 'sent'])
  assert.deepEqual(shownTo(world.bob), ['a.txt: all three', 'c.txt'])
  assert.equal(world.bob.duplicates, 1, 'the third left twice under one id')
  await parts.retry(id)
  await parts.reaches(id, 'sent')
  assert.deepEqual(shownTo(world.bob), ['a.txt: all three', 'c.txt', 'b.txt'])
  const after = await parts.row(id)
  assert.deepEqual([after.parts[0], after.parts[2]], [before.parts[0], before.parts[2]])
  assert.notEqual(after.parts[1]?.id, before.parts[1]?.id, 'what was refused leaves under another id')
  assert.equal((await world.shown(id, () => true)).status, 'sent')
  const { sent, failed } = await world.outbox()
  assert.deepEqual([sent, failed], [1, 0])
  // Counted a moment after the commit that a test can see.
  const counted = () => world.metric('service_messages_total{direction="out",instance="n0",owner_tag=""}')
  await waitUntil('all parts are counted', async () => (await counted()) >= 3)
  assert.equal(await counted(), 3)
})

// Messages of several parts, of which some are refused and some left in doubt.

import { OutboundStage } from '../../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SendStep } from '../../../src/bridge/outbound/send/row-sender.ts'
import { attach, shownTo, textFile } from '../../harness/agent-files.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Part = { id: string; state: string }

const three = ['a.txt', 'b.txt', 'c.txt'].map((name) => textFile(name))

class PartsStage {
  readonly stage: OutboundStage
  readonly #hooks: Map<number, () => void>

  private constructor(stage: OutboundStage, hooks: Map<number, () => void>) {
    this.stage = stage
    this.#hooks = hooks
  }

  static async open(environment: Record<string, string> = {}): Promise<PartsStage> {
    const hooks = new Map<number, () => void>()
    let composed = 0
    const onSendStep = (step: SendStep) => {
      if (step === 'composed') hooks.get(++composed)?.()
      return Promise.resolve()
    }
    const stage = await OutboundStage.open({ clock: new FastClock(4), onSendStep, environment })
    return new PartsStage(stage, hooks)
  }

  /** Just before the n-th frame of a message leaves. */
  before(nth: number, work: () => void): void {
    this.#hooks.set(nth, work)
  }

  async row(id: number) {
    const { database } = this.stage.service
    const query = database.query.selectFrom('outbox').select(['status', 'parts', 'reason', 'report'])
    const [row] = await database.read(query.where('message_id', '=', id))
    const parts = JSON.parse(row?.parts ?? '[]') as Part[]
    return { ...row, parts, states: parts.map(({ state }) => state) }
  }

  reaches(id: number, status: string): Promise<void> {
    const instead = () => shownTo(this.stage.bob)
    return waitUntil(`the message is ${status}`, async () => (await this.row(id)).status === status, { instead })
  }

  /** Until the helpdesk has confirmed that it failed: only then Retry counts. */
  async fails(id: number): Promise<string> {
    await waitUntil('the failure is confirmed', async () => (await this.row(id)).report === 'done')
    await this.stage.helpdesk.settled()
    const { status, contentAttributes } = await this.stage.shown(id, () => true)
    assert.equal(status, 'failed')
    return String(contentAttributes['external_error'])
  }

  async retry(id: number): Promise<void> {
    const { status } = await this.stage.agent.post(`/conversations/${this.stage.conversation}/messages/${id}/retry`)
    assert.equal(status, 200)
  }

  /** The frame is taken by the network, which never says so: the connection dies first. */
  dieAfterNextFrame(): void {
    const { network, bob, phone } = this.stage
    const seen = bob.messages.length
    network.fault({ kind: 'lost_ack' })
    void waitUntil('the frame has arrived', () => bob.messages.length > seen).then(() =>
      network.strike({ kind: 'drop', account: phone.user.phone }),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stage[Symbol.asyncDispose]()
  }
}

test('three files, the second refused, the connection dying after the third: each arrives once, the second on Retry', async () => {
  await using parts = await PartsStage.open()
  const { stage } = parts
  parts.before(2, () => {
    stage.network.fault({ kind: 'ack_error', code: 479 })
  })
  parts.before(3, () => {
    stage.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
    parts.dieAfterNextFrame()
  })
  const id = await attach(stage, 'all three', three)
  const answered = await stage.helpdesk.waitForDelivery('the answer', ({ event }) => event === 'message_created')
  assert.equal(answered.status, 202)
  await parts.reaches(id, 'pending')
  assert.deepEqual((await parts.row(id)).states, ['sent', 'refused', 'unknown'])
  await stage.reconnect()
  assert.match(await parts.fails(id), /^part 2 of 3: .*479/)
  const before = await parts.row(id)
  assert.deepEqual(before.states, ['sent', 'refused', 'sent'])
  assert.deepEqual(shownTo(stage.bob), ['a.txt: all three', 'c.txt'])
  assert.equal(stage.bob.duplicates, 1, 'the third left twice under one id')
  await parts.retry(id)
  await parts.reaches(id, 'sent')
  assert.deepEqual(shownTo(stage.bob), ['a.txt: all three', 'c.txt', 'b.txt'])
  const after = await parts.row(id)
  assert.deepEqual([after.parts[0], after.parts[2]], [before.parts[0], before.parts[2]])
  assert.notEqual(after.parts[1]?.id, before.parts[1]?.id, 'what was refused leaves under another id')
  assert.equal((await stage.shown(id, () => true)).status, 'sent')
  const { sent, failed } = await stage.outbox()
  assert.deepEqual([sent, failed], [1, 0])
  assert.equal(await stage.metric('service_messages_total{direction="out",instance="n0",owner_tag=""}'), 3)
})

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

test('one refused file holds up neither those after it nor the answer, which names it', async () => {
  await using parts = await PartsStage.open()
  const { stage } = parts
  parts.before(1, () => {
    stage.network.fault({ kind: 'ack_error', code: 479 })
  })
  const id = await attach(stage, '', three)
  const answered = await stage.helpdesk.waitForDelivery('the answer', ({ event }) => event === 'message_created')
  assert.equal(answered.status, 500)
  assert.match(await parts.fails(id), /^part 1 of 3: .*479/)
  assert.deepEqual(shownTo(stage.bob), ['b.txt', 'c.txt'])
  const lost = 'service_message_dispatch_errors_total{direction="out",instance="n0",kind="media",owner_tag=""}'
  assert.equal(await stage.metric(lost), 1)
})

test('a restriction ends the message: no further part is tried', async () => {
  await using parts = await PartsStage.open()
  const { stage } = parts
  parts.before(2, () => {
    stage.network.fault({ kind: 'ack_error', code: 463 })
  })
  const id = await attach(stage, '', three)
  assert.match(await parts.fails(id), /^parts 2, 3 of 3: WhatsApp has restricted this account/)
  assert.deepEqual((await parts.row(id)).states, ['sent', 'refused', 'new'])
  assert.deepEqual(shownTo(stage.bob), ['a.txt'])
})

test('three files, the connection dying after the third: answered as queued, then only the third is repeated', async () => {
  await using parts = await PartsStage.open()
  const { stage } = parts
  parts.before(3, () => {
    stage.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
    parts.dieAfterNextFrame()
  })
  const id = await attach(stage, '', three)
  const answered = await stage.helpdesk.waitForDelivery('the answer', ({ event }) => event === 'message_created')
  assert.equal(answered.status, 202)
  await stage.reaches('n0', (state) => state !== 'ready')
  await parts.reaches(id, 'pending')
  const { states } = await parts.row(id)
  assert.deepEqual(states, ['sent', 'sent', 'unknown'])
  await stage.reconnect()
  await parts.reaches(id, 'sent')
  assert.deepEqual(shownTo(stage.bob), ['a.txt', 'b.txt', 'c.txt'])
  assert.equal(stage.bob.duplicates, 1)
  assert.equal((await stage.shown(id, () => true)).status, 'sent')
})

test('a file that cannot be fetched is named, and the others are not sent again by Retry', async () => {
  await using parts = await PartsStage.open({ SERVICE_MEDIA_MAX_BYTES: '64kb' })
  const { stage } = parts
  const id = await attach(stage, '', [textFile('a.txt'), textFile('big.txt', 'x'.repeat(100_000)), textFile('c.txt')])
  assert.match(await parts.fails(id), /^part 2 of 3: big\.txt .*SERVICE_MEDIA_MAX_BYTES/)
  assert.deepEqual((await parts.row(id)).states, ['sent', 'refused', 'sent'])
  await parts.retry(id)
  await waitUntil('it has failed again', async () => {
    const { report, status } = await parts.row(id)
    return status === 'failed' && report === 'done'
  })
  assert.deepEqual(shownTo(stage.bob), ['a.txt', 'c.txt'])
})

test('what may have arrived keeps its id, also when the repeat is refused: Retry shows nothing twice', async () => {
  await using parts = await PartsStage.open()
  const { stage } = parts
  parts.before(1, () => {
    parts.dieAfterNextFrame()
  })
  parts.before(2, () => {
    stage.network.fault({ kind: 'ack_error', code: 479 })
  })
  const id = await stage.write('in doubt')
  assert.match(await parts.fails(id), /could not be confirmed/)
  assert.deepEqual((await parts.row(id)).states, ['unknown'])
  await parts.retry(id)
  await parts.reaches(id, 'sent')
  await stage.post(stage.callback(9000, 'the end'))
  await stage.received('the end')
  assert.deepEqual(stage.texts(), ['in doubt', 'the end'])
})

test('what the network refused at once is known not to be sent: Retry sends it under another id', async () => {
  await using parts = await PartsStage.open()
  const { stage } = parts
  const friend = stage.bob.text(stage.phone, 'hi')
  await stage.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === friend.id, 20_000)
  stage.network.fault({ kind: 'ack_error', code: 479 })
  const id = await stage.write('refused at once')
  await parts.fails(id)
  const before = await parts.row(id)
  assert.deepEqual(before.states, ['refused'])
  await parts.retry(id)
  await parts.reaches(id, 'sent')
  assert.notEqual((await stage.received('refused at once')).id, before.parts[0]?.id)
})

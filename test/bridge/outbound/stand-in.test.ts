// A callback whose owner does not answer: the node that received it stores it, and the owner sends it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseJson } from '../../../src/http/json-body.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { signatureOf } from '../../harness/signed-callback.ts'
import type { Answer } from './harness/agent-desk.ts'
import { revoked, rowOf } from './harness/views.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { StandInBed } from './harness/stand-in-bed.ts'

const bodyOf = ({ body }: Answer) => body as Record<string, unknown>
const lifetimeMs = 5 * 60_000

describe('a stand-in', { skip: withoutPostgres }, () => {
  test('stores a message as the owner would while it is offline, and tells the owner', async () => {
    await using stage = await StandInBed.open()
    const { bed, told } = stage
    const answer = await stage.post(bed.callback(7, 'hello'))
    const row = await rowOf(bed, 7)
    assert.deepEqual([row.count, row.status, row.attempts, row.waiting, row.drained], [1, 'pending', 0, 1, 1])
    assert.equal(row.expires_at, bed.clock.now() + lifetimeMs)
    const expires_at = new Date(bed.clock.now() + lifetimeMs).toISOString()
    assert.deepEqual(answer, { status: 202, body: { status: 'queued', queue_id: row.id, expires_at } })
    assert.deepEqual([told, bed.texts()], [['n0'], []], 'nothing is sent before the owner looks')
    bed.disconnect()
    assert.deepEqual(Object.keys(bodyOf(await bed.post(bed.callback(8, 'at the owner')))), Object.keys(bodyOf(answer)))
  })

  test('the owner sends the message when it hears of it, and when it does not', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    await stage.post(bed.callback(7, 'told'))
    await stage.hear()
    await bed.received('told')
    await stage.post(bed.callback(8, 'not told'))
    await bed.pass(5000)
    await bed.received('not told')
    assert.deepEqual(bed.texts(), ['told', 'not told'])
  })

  test('refuses a callback whose signature is wrong, and takes one whose signature is right', async () => {
    await using stage = await StandInBed.open({ environment: { WEBHOOK_HMAC_SECRET: 'secret' } })
    const callback = stage.bed.callback(7, 'hello')
    const signed = (secret: string) => ({ headers: signatureOf(JSON.stringify(callback), secret) })
    assertRefused(await stage.post(callback), 'SERVICE_UNAUTHORIZED', /not signed/)
    assertRefused(await stage.post(callback, signed('another')), 'SERVICE_UNAUTHORIZED', /not signed/)
    assert.deepEqual(await stage.rows(), [])
    assert.equal((await stage.post(callback, signed('secret'))).status, 202)
  })

  test('answers what is ignored or only followed as the owner does, and stores nothing', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    const { conversation } = bed.callback(0, '')
    const observed = { conversation, account: { id: 1 }, inbox: { id: 1 } }
    const callbacks = [
      bed.callback(7, 'a note', { private: true }),
      bed.callback(8, 'from the customer', { message_type: 'incoming' }),
      bed.callback(9, '   '),
      { event: 'webwidget_triggered' },
      { event: 'conversation_typing_on', ...observed, is_private: false },
      { event: 'conversation_updated', ...observed, id: bed.conversation, labels: ['vip'] },
    ]
    for (const callback of callbacks) assert.deepEqual(await stage.post(callback), await bed.post(callback))
    assert.deepEqual(await stage.rows(), [])
  })

  test('refuses what the owner refuses, with the same answer', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    const unreadable = { ...bed.callback(7, 'x'), conversation: 'none' }
    const elsewhere = bed.callback(8, 'elsewhere', { inbox: { id: 9 }, conversation: { id: 5, inbox_id: 9 } })
    const nobody = bed.callback(9, 'to no one', { conversation: { id: 999, inbox_id: 1 } })
    for (const callback of [unreadable, elsewhere, nobody]) {
      assert.deepEqual(await stage.post(callback), await bed.post(callback))
    }
  })

  test('answers 404 for an unknown instance, also for one that is deleted at that moment', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    const { database } = bed
    const unknown = await stage.post(bed.callback(7, 'hello'), { instance: 'other' })
    assertRefused(unknown, 'SERVICE_INSTANCE_NOT_FOUND', /no instance "other"/)
    await database.write(database.query.deleteFrom('instances').where('name', '=', 'n0'))
    assertRefused(await stage.post(bed.callback(7, 'hello')), 'SERVICE_INSTANCE_NOT_FOUND', /no instance "n0"/)
    assert.deepEqual(await stage.rows(), [])
    assert.deepEqual(await database.read(database.query.selectFrom('settled_callbacks').selectAll()), [])
  })

  test('a message that is stored already is a duplicate, at the stand-in and at the owner', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    assert.equal((await bed.post(bed.callback(7, 'hello'))).status, 200)
    const again = await stage.post(bed.callback(7, 'hello'), { mayBeStored: true })
    const { id } = await rowOf(bed, 7)
    assert.deepEqual(again, { status: 200, body: { status: 'ignored', reason: 'duplicate', queue_id: id } })
    assert.equal((await stage.post(bed.callback(8, 'more'))).status, 202)
    assert.equal(bodyOf(await bed.post(bed.callback(8, 'more')))['reason'], 'duplicate')
    assert.equal(bodyOf(await stage.post(bed.callback(8, 'more')))['reason'], 'duplicate')
    await bed.received('more')
    assert.deepEqual(bed.texts(), ['hello', 'more'])
  })

  test('a message without an id is stored unless the owner may have it', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    const { id, ...callback } = bed.callback(0, 'no id')
    assert.equal(id, 0)
    assertRefused(await stage.post(callback, { mayBeStored: true }), 'SERVICE_STORAGE_FAILED', /has no id/)
    assert.deepEqual(await stage.rows(), [])
    assert.equal((await stage.post(callback)).status, 202)
    assert.deepEqual(await stage.rows(), [{ message: null, status: 'pending' }])
  })

  test('the spamguard counts what the owner stored, and the refused message is kept for Retry', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    bed.change('n0', { isSpamguardEnabled: true })
    assert.equal((await bed.post(bed.callback(7, 'an offer for you'))).status, 200)
    for (let delivery = 0; delivery < 2; delivery++) {
      const { status, body } = await stage.post(bed.callback(8, 'an offer for you'))
      assert.deepEqual([status, (body as { error_code: string }).error_code], [422, 'SERVICE_SPAM_BLOCKED'])
    }
    const { count, status } = await rowOf(bed, 8)
    assert.deepEqual([count, status], [1, 'refused'])
  })

  test('the owner of another instance of the inbox stores a message for the one that answers', async () => {
    await using bed = await OutboundBed.open({ engine: 'postgres', accounts: 2 })
    await bed.hears('hello')
    await using beside = await bed.startBeside(['n1'])
    const looks: Promise<void>[] = []
    bed.process.view.tellOwner = (instance) => void looks.push(beside.outbound.lookAgain(instance))
    beside.view.tellOwner = (instance) => void looks.push(bed.process.outbound.lookAgain(instance))
    const raw = Buffer.from(JSON.stringify(bed.callback(7, 'an answer')))
    const answer = await beside.outbound.webhook.receive('n1', { raw, headers: {}, waitedMs: 0 }, parseJson)
    assert.equal(answer.kind, 'queued')
    const sent = await bed.received('an answer')
    await Promise.all(looks)
    assert.deepEqual([(await rowOf(bed, 7)).instance, sent.instance], ['n0', 'n0'])
  })

  describe('the owner of another instance of the inbox', () => {
    /** The process of the bed holds n0, the process beside it holds n1. Each is told of what the other stores. */
    async function openTwoOwners() {
      const bed = await OutboundBed.open({ engine: 'postgres', accounts: 2 })
      await bed.hears('hello')
      const beside = await bed.startBeside(['n1'])
      bed.process.view.tellOwner = (instance) => void beside.outbound.lookAgain(instance)
      beside.view.tellOwner = (instance) => void bed.process.outbound.lookAgain(instance)
      const receive = (callback: object) => {
        const raw = Buffer.from(JSON.stringify(callback))
        return beside.outbound.webhook.receive('n1', { raw, headers: {}, waitedMs: 0 }, parseJson)
      }
      const owned = new AsyncDisposableStack()
      owned.use(bed)
      owned.use(beside)
      return { bed, receive, [Symbol.asyncDispose]: () => owned.disposeAsync() }
    }

    test('stores a deletion of its message, sent or not', async () => {
      await using stage = await openTwoOwners()
      const { bed, receive } = stage
      const deletion = (id: number) =>
        receive({ ...bed.callback(id, ''), event: 'message_updated', content_attributes: { deleted: true } })
      assert.equal((await bed.post(bed.callback(7, 'sent'))).status, 200)
      await deletion(7)
      await bed.until('it is taken back', () => revoked(bed).length === 1)
      bed.disconnect()
      assert.equal((await bed.post(bed.callback(8, 'waiting'))).status, 202)
      await deletion(8)
      assert.equal((await rowOf(bed, 8)).status, 'failed')
      assert.deepEqual(bed.logs.withMessage('a changed message could not be followed'), [])
    })

    test('stores a Retry of its message', async () => {
      await using stage = await openTwoOwners()
      const { bed, receive } = stage
      bed.network.fault({ kind: 'ack_error', code: 400 })
      const id = await bed.write('again')
      assert.equal((await rowOf(bed, id)).status, 'failed')
      await bed.pass(10_000)
      const before = await rowOf(bed, id)
      Object.assign(bed.desk.message(id), { status: 'sent', contentAttributes: {} })
      await receive({ ...bed.callback(id, 'again'), event: 'message_updated', status: 'sent' })
      const { look_at, expires_at } = await rowOf(bed, id)
      assert.notDeepEqual([look_at, expires_at], [before.look_at, before.expires_at], 'a look is asked for')
      await bed.pass(10_000)
      await bed.received('again')
    })
  })

  test('a message to a person whom no record knows is stored, and the owner sends it', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    const eve = bed.network.person({ phone: '5511888880002', name: 'Eve' })
    const conversation = { id: 99, inbox_id: 1, meta: { sender: { phone_number: '+5511888880002' } } }
    assert.equal((await stage.post(bed.callback(7, 'first', { conversation }))).status, 202)
    assert.equal((await stage.post(bed.callback(8, 'second', { conversation }))).status, 202)
    await stage.hear()
    await bed.received('second', eve)
    assert.deepEqual(bed.texts(eve), ['first', 'second'])
    const people = await bed.database.read(bed.database.query.selectFrom('people').select('phone'))
    assert.equal(people.filter(({ phone }) => phone === '5511888880002').length, 1)
  })

  test('a deletion takes back what was sent, and keeps back what was not', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    const deletion = (id: number) =>
      stage.post({ ...bed.callback(id, ''), event: 'message_updated', content_attributes: { deleted: true } })
    assert.equal((await bed.post(bed.callback(7, 'sent'))).status, 200)
    assert.deepEqual(await deletion(7), { status: 200, body: { status: 'ok' } })
    assert.equal((await stage.post(bed.callback(8, 'waiting'))).status, 202)
    await deletion(8)
    await deletion(9)
    assert.equal(bodyOf(await bed.post(bed.callback(9, 'late')))['reason'], 'duplicate')
    await stage.hear()
    await bed.until('it is taken back', () => revoked(bed).length === 1)
    assert.deepEqual(
      bed.texts().filter((text) => text !== undefined),
      ['sent'],
    )
    assert.equal((await rowOf(bed, 8)).status, 'failed')
  })

  test('a Retry that the stand-in hears of is followed by the owner', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    bed.network.fault({ kind: 'ack_error', code: 400 })
    const id = await bed.write('again')
    assert.equal((await rowOf(bed, id)).status, 'failed')
    await bed.pass(10_000)
    const message = bed.desk.message(id)
    Object.assign(message, { status: 'sent', contentAttributes: {} })
    const changed = { ...bed.callback(id, 'again'), event: 'message_updated', status: 'sent' }
    assert.equal((await stage.post(changed)).status, 200)
    await bed.received('again')
  })

  test('two hundred waiting messages are the limit at the stand-in and at the owner', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    bed.disconnect()
    for (let n = 0; n < 200; n += 50) {
      const batch = Array.from({ length: 50 }, (_, i) => stage.post(bed.callback(100 + n + i, `text ${n + i}`)))
      for (const { status } of await Promise.all(batch)) assert.equal(status, 202)
    }
    assertRefused(await stage.post(bed.callback(900, 'too many')), 'SERVICE_OUTBOX_FULL', /200 messages already wait/)
    assertRefused(await bed.post(bed.callback(901, 'too many here')), 'SERVICE_OUTBOX_FULL', /200/)
  })
})

// Messages of one conversation that two nodes store: each is stored once, and all leave in order.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseJson } from '../../../src/http/json-body.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import type { Answer } from './harness/agent-desk.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import { rowOf } from './harness/views.ts'
import { StandInBed } from './harness/stand-in-bed.ts'

const wordOf = ({ body }: Answer) => (body as { status?: string }).status ?? JSON.stringify(body)
const lifetimeMs = 5 * 60_000

describe('two nodes and one conversation', { skip: withoutPostgres }, () => {
  test('the owner and two stand-ins at once, 200 times: one row each, sent once', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    const texts: string[] = []
    for (let n = 0; n < 200; n++) {
      const callback = bed.callback(100 + n, `message ${n}`)
      const doubt = { mayBeStored: true }
      const owner = bed.post(callback)
      const answers = await Promise.all([owner, stage.post(callback, doubt), stage.post(callback, doubt)])
      const words = answers.map(wordOf).sort()
      assert.ok(words[0] === 'ignored' && words[1] === 'ignored', `round ${n}: ${words.join(', ')}`)
      assert.ok(['sent', 'queued'].includes(words[2] ?? ''), `round ${n}: ${words.join(', ')}`)
      await stage.hear()
      texts.push(`message ${n}`)
    }
    await bed.received('message 199')
    assert.deepEqual(bed.texts(), texts)
    assert.equal((await stage.rows()).length, 200)
  })

  test('the owner queues a stored row once, however often it looks', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    bed.disconnect()
    await stage.post(bed.callback(7, 'once'))
    await Promise.all(Array.from({ length: 10 }, () => stage.hear()))
    assert.equal(bed.process.outbound.pendingOf('n0'), 1)
    bed.connect()
    await bed.received('once')
    await bed.pass(10_000)
    assert.deepEqual(bed.texts(), ['once'])
  })

  test('a message at the owner waits behind a stored one, also if the owner was not told of it', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    await bed.post(bed.callback(6, 'before'))
    assert.equal((await stage.post(bed.callback(7, 'stored'))).status, 202)
    await bed.post(bed.callback(8, 'after'))
    await bed.received('after')
    assert.deepEqual(bed.texts(), ['before', 'stored', 'after'])
  })

  test('a direct message waits behind a stored one, also if the owner was not told of it', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    await bed.post(bed.callback(6, 'before'))
    assert.equal((await stage.post(bed.callback(7, 'stored'))).status, 202)
    const to = { kind: 'person' as const, phone: bed.bob.phone ?? '', lid: null }
    await bed.process.outbound.direct.send('n0', { to, content: { type: 'text', text: 'direct' } })
    await bed.received('direct')
    assert.deepEqual(bed.texts(), ['before', 'stored', 'direct'])
  })

  test('a message that could leave at once waits behind a stored one too', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    // From the third message on, the owner remembers the conversation and reads nothing before it stores a message.
    for (const id of [4, 5, 6]) assert.equal(wordOf(await bed.post(bed.callback(id, `message ${id}`))), 'sent')
    assert.equal((await stage.post(bed.callback(7, 'message 7'))).status, 202)
    await bed.post(bed.callback(8, 'message 8'))
    await bed.received('message 8')
    assert.equal(wordOf(await bed.post(bed.callback(9, 'message 9'))), 'sent')
    assert.deepEqual(
      bed.texts(),
      [4, 5, 6, 7, 8, 9].map((id) => `message ${id}`),
    )
  })

  test('a stored row takes its place between those that already wait', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    bed.disconnect()
    await bed.post(bed.callback(7, 'one'))
    await bed.clock.advance(10)
    const { view } = bed.process
    view.hasPeers = false
    await stage.post(bed.callback(8, 'two'))
    await bed.clock.advance(10)
    await bed.post(bed.callback(9, 'three'))
    await stage.hear()
    bed.connect()
    await bed.received('three')
    assert.deepEqual(bed.texts(), ['one', 'two', 'three'])
  })

  test('rows that a stand-in stored in the wrong order leave in the order of their messages', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    for (const id of [9, 7, 8]) {
      await stage.post(bed.callback(id, `message ${id}`))
      await bed.clock.advance(10)
    }
    await stage.hear()
    await bed.received('message 9')
    assert.deepEqual(bed.texts(), ['message 7', 'message 8', 'message 9'])
  })

  test('messages that the owner of another instance stores wait for one before them, however many wait', async () => {
    await using bed = await OutboundBed.open({ engine: 'postgres', accounts: 2 })
    await bed.hears('hello')
    await using beside = await bed.startBeside(['n1'])
    const looks: Promise<void>[] = []
    beside.view.tellOwner = (instance) => void looks.push(bed.process.outbound.lookAgain(instance))
    const ids = [10, 11, 12, 13, 14, 15, 16, 17]
    const outgoingMessages = () => Promise.resolve([1, ...ids].map((id) => ({ id, createdAt: bed.clock.now() })))
    bed.helpdesk.agents = { ...bed.helpdesk.agents, outgoingMessages }
    const post = (id: number) => {
      const raw = Buffer.from(JSON.stringify(bed.callback(id, `message ${id}`)))
      return beside.outbound.webhook.receive('n1', { raw, headers: {}, waitedMs: 0 }, parseJson)
    }
    await post(1)
    await bed.received('message 1')
    const [first = 0, ...later] = ids
    const answers = later.map(post)
    await bed.pass(100)
    await Promise.all(looks)
    assert.deepEqual(bed.texts(), ['message 1'], 'the callback of message 10 is still to come')
    answers.push(post(first))
    await bed.received('message 17')
    await Promise.all([...answers, ...looks])
    assert.deepEqual(
      bed.texts(),
      [1, ...ids].map((id) => `message ${id}`),
    )
  })

  test('a stored row does not expire while the account is connected and paced', async () => {
    await using stage = await StandInBed.open({ environment: { SERVICE_OUTGOING_RATE_LIMIT: '1' } })
    const { bed } = stage
    for (let n = 0; n < 8; n++) await stage.post(bed.callback(100 + n, `message ${n}`))
    await stage.hear()
    const isOver = async () => !['pending', 'sending'].includes((await rowOf(bed, 107)).status ?? '')
    await bed.until('nothing waits', isOver, { stepMs: 10_000 })
    assert.equal(bed.texts().length, 8)
  })

  test('a stored row expires as one of the owner does while the account is away', async () => {
    await using stage = await StandInBed.open()
    const { bed } = stage
    bed.disconnect()
    await stage.post(bed.callback(7, 'too late'))
    await stage.hear()
    await bed.pass(lifetimeMs - 60_000)
    assert.equal((await rowOf(bed, 7)).status, 'pending')
    const isExpired = async () => (await rowOf(bed, 7)).status === 'expired'
    await bed.until('it is expired', isExpired, { stepMs: 10_000 })
    bed.connect()
    await bed.pass(10_000)
    assert.deepEqual(bed.texts(), [])
  })
})

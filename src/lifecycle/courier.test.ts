import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allDuties } from '../../test/harness/duties.ts'
import { RecordedLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import type { Delivery, DeliveryResult } from '../core/lifecycle/delivery.ts'
import type { LifecycleEvent } from '../core/lifecycle/lifecycle.ts'
import { Courier } from './courier.ts'
import type { Attempt } from './retry-schedule.ts'

const yes: Attempt = { code: 200, error: null, retryAfter: null }
const no: Attempt = { code: 500, error: 'no', retryAfter: null }

/** Subscribers that do what the test says, and a memory in place of storage. */
class Stage implements AsyncDisposable {
  readonly clock = new ManualClock()
  readonly knocks: { id: string; at: number }[] = []
  readonly ended: { event: LifecycleEvent; result: DeliveryResult }[] = []
  readonly recorded = new Map<string, DeliveryResult>()
  readonly answers = new Map<string, () => Promise<Attempt>>()
  readonly stored: Delivery[] = []
  readonly logs = new RecordedLog()
  readsOfOne = 0
  storageFails = false
  readonly duties = { ...allDuties }
  readonly courier = new Courier({
    deliveries: {
      pending: (scope) =>
        Promise.resolve(this.stored.filter(({ instance }) => scope === 'all' || scope.held.includes(instance))),
      pendingOf: (instance) => {
        this.readsOfOne++
        return Promise.resolve(this.stored.filter((each) => each.instance === instance))
      },
      pendingOfDeleted: () => Promise.resolve(this.stored.filter(({ instance }) => instance === 'deleted')),
      record: (id, result) => {
        if (this.storageFails) return Promise.reject(new Error('storage is away'))
        this.recorded.set(id, result)
        return Promise.resolve()
      },
    },
    duties: this.duties,
    deliver: ({ id, url }) => {
      this.knocks.push({ id, at: this.clock.monotonic() })
      return this.answers.get(url)?.() ?? Promise.resolve(yes)
    },
    clock: this.clock,
    random: () => 0.5,
    log: this.logs.log,
    onEnded: ({ event }, result) => void this.ended.push({ event, result }),
  })
  #count = 0

  add(url: string, event: LifecycleEvent = 'paired', changes: Partial<Delivery> = {}): string {
    const id = `d${String(this.#count++).padStart(5, '0')}`
    const now = this.clock.now()
    const fixed = { id, eventId: id, event, instance: 'a', url, body: '{}', createdAt: now, expiresAt: null }
    this.courier.add([{ ...fixed, attempts: 0, nextAt: now, ...changes }])
    return id
  }

  statusOf(id: string): string | undefined {
    return this.recorded.get(id)?.status
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const over = this.courier[Symbol.asyncDispose]()
    await this.clock.advance(10_000)
    await over
  }
}

test('a dead subscriber is tried by the schedule and then given up; newer events do not wait for it', async () => {
  await using stage = new Stage()
  stage.answers.set('http://dead', () => Promise.resolve(no))
  const first = stage.add('http://dead')
  await stage.clock.advance(1_000)
  const newer = stage.add('http://dead', 'connected')
  await stage.clock.advance(28 * 3_600_000)
  const timesOf = (id: string) => stage.knocks.filter((deliver) => deliver.id === id).map(({ at }) => at / 1000)
  assert.deepEqual(timesOf(first), [0, 5, 35, 335, 2135, 9335, 27_335, 63_335, 99_335])
  assert.deepEqual(timesOf(newer), [1, 6, 36, 336, 2136, 9336, 27_336, 63_336, 99_336])
  assert.equal(stage.statusOf(first), 'exhausted')
  assert.deepEqual(
    stage.ended.map(({ event, result }) => [event, result.status, result.attempts]),
    [
      ['paired', 'exhausted', 9],
      ['connected', 'exhausted', 9],
    ],
  )
  assert.equal(stage.courier.pending, 0)
})

test('a subscriber that never answers delays only its own deliveries', async () => {
  await using stage = new Stage()
  const silence = Promise.withResolvers<Attempt>()
  stage.answers.set('http://silent', () => silence.promise)
  for (let n = 0; n < 10; n++) stage.add('http://silent')
  const others = Array.from({ length: 19 }, (_, n) => stage.add(`http://healthy-${n}`))
  await stage.clock.advance(0)
  assert.equal(stage.knocks.filter(({ id }) => !others.includes(id)).length, 2)
  assert.deepEqual(new Set(others.map((id) => stage.statusOf(id))), new Set(['delivered']))
  silence.resolve(yes)
  await stage.clock.advance(0)
  assert.equal(stage.courier.pending, 0)
})

test('a dead server with many subscribers leaves room for the others', async () => {
  await using stage = new Stage()
  const silence = Promise.withResolvers<Attempt>()
  const dead = Array.from({ length: 100 }, (_, n) => `http://dead/${n}`)
  for (const url of dead) stage.answers.set(url, () => silence.promise)
  for (const url of dead) stage.add(url)
  const healthy = stage.add('http://healthy')
  await stage.clock.advance(0)
  assert.equal(stage.statusOf(healthy), 'delivered')
  assert.equal(stage.knocks.length, 17)
  silence.resolve(yes)
  await stage.clock.advance(0)
  assert.equal(stage.courier.pending, 0)
})

test('at most 64 attempts are in flight, and free places are used', async () => {
  await using stage = new Stage()
  const open: PromiseWithResolvers<Attempt>[] = []
  for (let n = 0; n < 50; n++) {
    stage.answers.set(`http://slow-${n}`, () => {
      const answer = Promise.withResolvers<Attempt>()
      open.push(answer)
      return answer.promise
    })
    stage.add(`http://slow-${n}`)
    stage.add(`http://slow-${n}`)
  }
  await stage.clock.advance(0)
  assert.equal(open.length, 64)
  for (const answer of open.splice(0)) answer.resolve(yes)
  await stage.clock.advance(0)
  assert.equal(open.length, 36)
  for (const answer of open) answer.resolve(yes)
  await stage.clock.advance(0)
  assert.equal(stage.courier.pending, 0)
})

test('the oldest of more than 1,000 deliveries for one subscriber of one instance is dropped and counted', async () => {
  await using stage = new Stage()
  stage.answers.set('http://dead', () => Promise.resolve(no))
  const ids: string[] = []
  for (let n = 0; n < 1000; n++) ids.push(stage.add('http://dead', 'paired', { nextAt: stage.clock.now() + 60_000 }))
  const elsewhere = stage.add('http://dead', 'paired', { instance: 'b', nextAt: stage.clock.now() + 60_000 })
  ids.push(stage.add('http://dead', 'paired', { nextAt: stage.clock.now() + 60_000 }))
  await stage.clock.advance(0)
  assert.deepEqual(
    ids.filter((id) => stage.statusOf(id) === 'dropped'),
    [ids[0]],
  )
  assert.equal(stage.statusOf(elsewhere), undefined)
  assert.equal(stage.ended.length, 1)
  const [line] = stage.logs.withMessage('a lifecycle event was not delivered and is not tried again')
  assert.equal(line?.['id'], ids[0])
})

test('a newer QR code replaces one that waits, never one of another instance', async () => {
  await using stage = new Stage()
  stage.answers.set('http://x', () => Promise.resolve(no))
  const old = stage.add('http://x', 'qr_generated', { expiresAt: stage.clock.now() + 20_000 })
  const other = stage.add('http://x', 'qr_generated', { instance: 'b', expiresAt: stage.clock.now() + 20_000 })
  await stage.clock.advance(1_000)
  const fresh = stage.add('http://x', 'qr_generated', { expiresAt: stage.clock.now() + 20_000 })
  await stage.clock.advance(0)
  assert.equal(stage.statusOf(old), 'dropped')
  assert.equal(stage.statusOf(other), 'pending')
  assert.equal(stage.statusOf(fresh), 'pending')
  await stage.clock.advance(60_000)
  assert.equal(stage.statusOf(fresh), 'exhausted')
  assert.equal(stage.knocks.filter(({ id }) => id === old).length, 1)
})

test('an expired event is not delivered', async () => {
  await using stage = new Stage()
  const id = stage.add('http://x', 'backend_started', { expiresAt: stage.clock.now() - 1 })
  await stage.clock.advance(0)
  assert.equal(stage.statusOf(id), 'exhausted')
  assert.deepEqual(stage.knocks, [])
})

test('a result that storage refuses is stored later; the delivery is not repeated', async () => {
  await using stage = new Stage()
  stage.storageFails = true
  const id = stage.add('http://x')
  await stage.clock.advance(12_000)
  assert.equal(stage.statusOf(id), undefined)
  stage.storageFails = false
  await stage.clock.advance(5_000)
  assert.equal(stage.statusOf(id), 'delivered')
  assert.equal(stage.knocks.length, 1)
})

test('disposal waits for attempts in flight and starts no other', async () => {
  await using stage = new Stage()
  const answer = Promise.withResolvers<Attempt>()
  stage.answers.set('http://x', () => answer.promise)
  const inFlight = [stage.add('http://x'), stage.add('http://x')]
  const later = stage.add('http://x')
  await stage.clock.advance(0)
  const over = stage.courier[Symbol.asyncDispose]()
  answer.resolve(yes)
  await over
  assert.deepEqual(
    inFlight.map((id) => stage.statusOf(id)),
    ['delivered', 'delivered'],
  )
  assert.equal(stage.statusOf(later), undefined)
  assert.equal(stage.knocks.length, 2)
})

test('a caller can wait until deliveries are no longer in flight', async () => {
  await using stage = new Stage()
  const answer = Promise.withResolvers<Attempt>()
  stage.answers.set('http://slow', () => answer.promise)
  const id = stage.add('http://slow')
  let told = false
  const settled = stage.courier.settled(new Set([id])).then(() => (told = true))
  await stage.clock.advance(0)
  assert.equal(told, false)
  answer.resolve(no)
  await settled
  assert.equal(stage.statusOf(id), 'pending')
})

test('deliveries of instances that are taken before the start are read at once, and sent after the start', async () => {
  await using stage = new Stage()
  const fixed = { event: 'paired', url: 'http://x', body: '{}', createdAt: 0, expiresAt: null } as const
  for (const instance of ['a', 'b', 'deleted']) {
    stage.stored.push({ ...fixed, id: instance, eventId: instance, instance, attempts: 0, nextAt: 0 })
  }
  for (const instance of ['a', 'b']) await stage.courier.take(instance)
  await stage.clock.advance(0)
  assert.deepEqual(stage.knocks, [])
  await stage.courier.start()
  await stage.clock.advance(0)
  assert.deepEqual(
    stage.knocks.map(({ id }) => id),
    ['a', 'b', 'deleted'],
  )
  assert.equal(stage.readsOfOne, 0)
})

test('an instance that the courier has taken and that is not served yet at the start gets its deliveries', async () => {
  await using stage = new Stage()
  stage.duties.held = () => []
  const fixed = { event: 'paired', url: 'http://x', body: '{}', createdAt: 0, expiresAt: null } as const
  stage.stored.push({ ...fixed, id: 'a', eventId: 'a', instance: 'a', attempts: 0, nextAt: 0 })
  await stage.courier.take('a')
  await stage.courier.start()
  await stage.clock.advance(0)
  assert.deepEqual(
    stage.knocks.map(({ id }) => id),
    ['a'],
  )
})

test('an instance that leaves is forgotten; taken again, its stored deliveries go on', async () => {
  await using stage = new Stage()
  await stage.courier.start()
  const later = stage.clock.now() + 60_000
  const waiting = stage.add('http://x', 'paired', { nextAt: later })
  const other = stage.add('http://x', 'paired', { instance: 'b', nextAt: later })
  stage.courier.leave('a')
  assert.equal(stage.courier.pending, 1)
  await stage.clock.advance(60_000)
  assert.deepEqual([stage.statusOf(waiting), stage.statusOf(other)], [undefined, 'delivered'])
  const fixed = { eventId: waiting, event: 'paired', instance: 'a', url: 'http://x', body: '{}' } as const
  stage.stored.push({ ...fixed, id: waiting, createdAt: 0, expiresAt: null, attempts: 0, nextAt: later })
  await stage.courier.take('a')
  await stage.clock.advance(0)
  assert.equal(stage.statusOf(waiting), 'delivered')
  assert.equal(stage.courier.pending, 0)
})

test('an attempt in flight while its instance leaves is repeated only when the instance is back', async () => {
  for (const isBack of [false, true]) {
    await using stage = new Stage()
    await stage.courier.start()
    const answer = Promise.withResolvers<Attempt>()
    stage.answers.set('http://slow', () => answer.promise)
    const id = stage.add('http://slow')
    await stage.clock.advance(0)
    stage.courier.leave('a')
    const fixed = { eventId: id, event: 'paired', instance: 'a', url: 'http://slow', body: '{}' } as const
    stage.stored.push({ ...fixed, id, createdAt: 0, expiresAt: null, attempts: 0, nextAt: 0 })
    if (isBack) await stage.courier.take('a')
    await stage.clock.advance(0)
    assert.equal(stage.knocks.length, 1)
    answer.resolve(no)
    await stage.clock.advance(10_000)
    assert.equal(stage.knocks.length, isBack ? 2 : 1)
    assert.equal(stage.courier.pending, isBack ? 1 : 0)
  }
})

test('only the first node delivers for deleted instances, and stops when another node is the first', async () => {
  await using stage = new Stage()
  const fixed = { event: 'paired', url: 'http://x', body: '{}', createdAt: 0, expiresAt: null, attempts: 0 } as const
  const delivery = { ...fixed, id: 'd', eventId: 'd', instance: 'deleted' }
  stage.stored.push({ ...delivery, nextAt: stage.clock.now() + 60_000 })
  stage.duties.held = () => []
  stage.duties.isFirst = () => false
  await stage.courier.takeDeleted()
  assert.equal(stage.courier.pending, 0, 'not first')
  stage.duties.isFirst = () => true
  await stage.courier.takeDeleted()
  assert.equal(stage.courier.pending, 1, 'first')
  stage.duties.isFirst = () => false
  await stage.courier.takeDeleted()
  await stage.clock.advance(60_000)
  assert.deepEqual([stage.courier.pending, stage.knocks.length], [0, 0], 'not first any more')
})

test('the deliveries of an instance that was created again stay when another node is the first', async () => {
  await using stage = new Stage()
  await stage.courier.start()
  const id = stage.add('http://x', 'paired', { instance: 'deleted', nextAt: stage.clock.now() + 60_000 })
  stage.stored.push({ id, instance: 'deleted', url: 'http://x' } as Delivery)
  await stage.courier.takeDeleted()
  stage.stored.length = 0
  await stage.courier.take('deleted')
  stage.duties.isFirst = () => false
  await stage.courier.takeDeleted()
  assert.equal(stage.courier.pending, 1)
})

test('nodes share the attempts at one subscriber and at one host', async () => {
  await using stage = new Stage()
  const answer = Promise.withResolvers<Attempt>()
  const urls = Array.from({ length: 40 }, (_, n) => `http://slow/${Math.floor(n / 2)}`)
  for (const url of urls) stage.answers.set(url, () => answer.promise)
  const knocksOf = async (sharers: number, more: readonly string[]) => {
    stage.duties.sharers = () => sharers
    for (const url of more) stage.add(url)
    await stage.clock.advance(0)
    return stage.knocks.length
  }
  const counts = [await knocksOf(4, urls.slice(0, 2)), await knocksOf(4, urls.slice(2))]
  // It is answered at once, and its end lets the others go on.
  const alone = await knocksOf(1, ['http://slow/other'])
  answer.resolve(yes)
  assert.deepEqual(counts, [1, 4], 'one of two at a subscriber, a quarter of 16 at a host')
  assert.equal(alone, 17, 'a node that is alone has 16 at a host')
})

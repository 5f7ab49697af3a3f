import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import type { WASocket } from '../library/library.ts'
import { BacklogDrain } from './backlog-drain.ts'

/** A connection without a server: the test plays what the server sends. */
class Played {
  readonly clock = new ManualClock()
  readonly ws = new EventEmitter()
  readonly ev = new EventEmitter()
  readonly gone = new AbortController()
  /** The times of the requests. */
  readonly asked: number[] = []
  readonly #began = this.clock.monotonic()
  unstored = 0
  isStorageAway = false
  begun = 0
  ended = 0

  constructor() {
    const sendNode = () => {
      this.asked.push(this.clock.monotonic() - this.#began)
      return Promise.resolve()
    }
    const drain = new BacklogDrain({
      socket: { ws: this.ws, ev: this.ev, sendNode } as unknown as WASocket,
      clock: this.clock,
      isStorageAway: () => this.isStorageAway,
      unstored: () => this.unstored,
      gone: this.gone.signal,
      onBegin: () => (this.begun += 1),
      onEnd: () => (this.ended += 1),
    })
    drain.listen()
    this.ev.emit('connection.update', { connection: 'open' })
  }

  preview(): void {
    this.ws.emit('CB:ib,,offline_preview', { tag: 'ib', attrs: {} })
  }

  deliver(count: number): void {
    for (let n = 0; n < count; n++) this.ws.emit('frame', { tag: 'message', attrs: { offline: String(n) } })
  }

  announceEnd(): void {
    this.ev.emit('connection.update', { receivedPendingNotifications: true })
  }
}

test('the next window is asked for when the last one has come, but not within 100 ms', async () => {
  const played = new Played()
  played.preview()
  for (let window = 0; window < 3; window++) {
    played.deliver(100)
    await played.clock.advance(99)
    assert.equal(played.asked.length, window + 1)
    await played.clock.advance(1)
  }
  assert.deepEqual(played.asked, [0, 100, 200, 300])
  played.announceEnd()
  await played.clock.advance(60_000)
  assert.equal(played.asked.length, 4)
  assert.deepEqual([played.begun, played.ended, played.clock.pending], [1, 1, 0])
})

test('no window is asked for while more than 50 stanzas are not stored, or storage is away', async () => {
  const played = new Played()
  played.preview()
  played.deliver(100)
  played.unstored = 51
  await played.clock.advance(4000)
  assert.equal(played.asked.length, 1)
  played.isStorageAway = true
  played.unstored = 50
  await played.clock.advance(60_000)
  assert.equal(played.asked.length, 1)
  played.isStorageAway = false
  await played.clock.advance(100)
  assert.equal(played.asked.length, 2)
})

test('stanzas that are never stored stop the requests for 5 s at most', async () => {
  const played = new Played()
  played.preview()
  played.deliver(100)
  played.unstored = 80
  await played.clock.advance(6000)
  assert.equal(played.asked.length, 2)
})

test('when less comes than was asked for, the pauses grow; the backlog is over after 20 s without progress', async () => {
  const played = new Played()
  played.preview()
  played.deliver(7)
  await played.clock.advance(19_900)
  assert.deepEqual(played.asked, [0, 100, 300, 700, 1500, 3100, 6300, 11_300, 16_300])
  assert.equal(played.ended, 0)
  await played.clock.advance(1100)
  assert.equal(played.ended, 1)
})

test('a server that pauses for longer than 20 s is asked until it announces the end', async () => {
  const played = new Played()
  played.preview()
  played.deliver(60)
  await played.clock.advance(25_000)
  assert.equal(played.ended, 1)
  await played.clock.advance(60_000)
  const { length } = played.asked
  played.deliver(100)
  await played.clock.advance(100)
  assert.equal(played.asked.length, length + 1)
  played.announceEnd()
  await played.clock.advance(120_000)
  assert.equal(played.asked.length, length + 1)
  assert.deepEqual([played.begun, played.ended, played.clock.pending], [1, 1, 0])
})

test('a server that never announces the end is asked less and less often, at last once a minute', async () => {
  const played = new Played()
  played.preview()
  played.deliver(60)
  await played.clock.advance(3_600_000)
  const pauses = played.asked.map((at, n) => at - (played.asked[n - 1] ?? 0))
  const rests = pauses.filter((ms) => ms >= 10_000).map((ms) => Math.floor(ms / 1000))
  assert.deepEqual(rests.slice(0, 4), [10, 20, 40, 60])
  assert.ok(
    rests.slice(3).every((seconds) => seconds === 60),
    String(rests),
  )
  assert.ok(rests.length > 55, String(rests.length))
})

test('after a long pause, the windows follow each other as at the beginning', async () => {
  const played = new Played()
  played.preview()
  played.deliver(60)
  await played.clock.advance(600_000)
  const before = played.asked.length
  for (let window = 0; window < 3; window++) {
    played.deliver(100)
    await played.clock.advance(100)
  }
  assert.equal(played.asked.length, before + 3)
  // The server pauses once more.
  await played.clock.advance(10_000)
  assert.ok(played.asked.length > before + 5, 'the pauses begin short again')
})

test('an account whose server never announces the end looks once a second', async () => {
  const played = new Played()
  played.preview()
  await played.clock.advance(60_000)
  let timers = 0
  const after = played.clock.after.bind(played.clock)
  played.clock.after = (ms, work) => {
    timers += 1
    return after(ms, work)
  }
  await played.clock.advance(60_000)
  assert.ok(timers <= 130, `${timers} timers in a minute`)
})

test('a server gets no request before it announces a backlog, and the account stops waiting after 20 s', async () => {
  const played = new Played()
  await played.clock.advance(21_000)
  assert.deepEqual([played.asked.length, played.ended, played.clock.pending], [0, 1, 0])
  played.preview()
  assert.deepEqual([played.asked.length, played.begun], [1, 0])
})

for (const delayMs of [50, 300, 900]) {
  test(`a window that comes ${delayMs} ms after its request is not asked for twice`, async () => {
    const played = new Played()
    played.preview()
    for (let window = 1; window <= 3; window++) {
      await played.clock.advance(delayMs)
      assert.equal(played.asked.length, window)
      played.deliver(100)
      while (played.asked.length === window) await played.clock.advance(10)
    }
  })
}

test('a backlog that is slowly stored is not over', async () => {
  const played = new Played()
  played.preview()
  played.deliver(100)
  for (played.unstored = 100; played.unstored > 60; played.unstored -= 10) await played.clock.advance(15_000)
  assert.equal(played.ended, 0)
})

test('nothing is asked for after the connection has ended', async () => {
  const played = new Played()
  played.preview()
  played.deliver(100)
  played.gone.abort()
  await played.clock.advance(60_000)
  assert.equal(played.asked.length, 1)
  assert.deepEqual([played.ended, played.clock.pending], [0, 0])
})

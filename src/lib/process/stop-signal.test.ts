import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { RecordedLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { firstStopSignal } from './stop-signal.ts'

/** A process that only hears. */
class Heard {
  readonly clock = new ManualClock()
  readonly logs = new RecordedLog()
  readonly #events = new EventEmitter()
  isStopping = false
  ends = 0

  constructor() {
    const end = () => {
      this.ends += 1
    }
    void firstStopSignal({ log: this.logs.log, clock: this.clock, events: this.#events, end }).then(() => {
      this.isStopping = true
    })
  }

  async hear(event: 'SIGTERM' | 'SIGINT' | 'parentEnded', { afterMs = 0 } = {}): Promise<this> {
    await this.clock.advance(afterMs)
    assert.ok(this.#events.emit(event, event), 'the event has a listener')
    await Promise.resolve()
    return this
  }
}

for (const event of ['SIGTERM', 'SIGINT', 'parentEnded'] as const) {
  test(`the first event, ${event}, asks for an orderly stop`, async () => {
    const heard = await new Heard().hear(event)
    assert.deepEqual([heard.isStopping, heard.ends], [true, 0])
    assert.equal(heard.logs.withMessage('stopping; a second signal ends at once').length, 1)
  })
}

test('the same signal within 2 s counts once, however often it comes', async () => {
  const heard = await new Heard().hear('SIGTERM')
  for (const afterMs of [0, 999, 1000]) await heard.hear('SIGTERM', { afterMs })
  assert.equal(heard.ends, 0)
})

test('the same signal after 2 s ends the process', async () => {
  const heard = await new Heard().hear('SIGTERM')
  assert.equal((await heard.hear('SIGTERM', { afterMs: 2000 })).ends, 1)
})

test('another signal ends the process at once', async () => {
  const heard = await new Heard().hear('SIGTERM')
  assert.equal((await heard.hear('SIGINT')).ends, 1)
})

test('a stop that a signal has begun goes on when the parent ends', async () => {
  for (const afterMs of [0, 5000]) {
    const heard = await new Heard().hear('SIGINT')
    assert.equal((await heard.hear('parentEnded', { afterMs })).ends, 0)
    assert.equal(heard.logs.withMessage('stopping; a second signal ends at once').length, 1)
  }
})

test('the first signal after the end of the parent does not cut the stop short, the second does', async () => {
  const heard = await new Heard().hear('parentEnded')
  assert.equal((await heard.hear('SIGTERM', { afterMs: 5000 })).ends, 0)
  assert.equal((await heard.hear('SIGTERM', { afterMs: 5000 })).ends, 1)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../test/harness/logs.ts'
import { ClockWatch } from './clock-watch.ts'

class Stage {
  now = 1_000_000
  monotonic = 0
  corrections = 0
  failures = 0
  readonly watch = new ClockWatch({
    clock: { now: () => this.now, monotonic: () => this.monotonic },
    log: silentLog,
    correct: () => {
      this.corrections++
      return this.failures-- > 0 ? Promise.reject(new Error('storage is away')) : Promise.resolve()
    },
  })

  /** The watch runs after so much time. */
  async pass(ms: number): Promise<number> {
    this.now += ms
    this.monotonic += ms
    await this.watch.run()
    return this.corrections
  }
}

test('times are corrected once when the clock is put back, and not when it runs or is put forward', async () => {
  const stage = new Stage()
  assert.equal(await stage.pass(5000), 0)
  stage.now += 3_600_000
  assert.equal(await stage.pass(0), 0)
  stage.now -= 3_600_000
  assert.equal(await stage.pass(5000), 1)
  assert.equal(await stage.pass(5000), 1)
  stage.now -= 500
  assert.equal(await stage.pass(5000), 1, 'a small correction')
})

test('a correction that fails is repeated', async () => {
  const stage = new Stage()
  stage.failures = 1
  stage.now -= 3_600_000
  await assert.rejects(stage.pass(5000), /storage is away/)
  assert.equal(await stage.pass(5000), 2)
  assert.equal(await stage.pass(5000), 2)
})

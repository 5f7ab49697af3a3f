import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { silentLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { HeldDestinations } from './held-destinations.ts'

function setUp() {
  const clock = new ManualClock()
  const held = new HeldDestinations({ clock, log: silentLog })
  const probes: PromiseWithResolvers<undefined>[] = []
  const hold = (reason: string, instance = 'a') => {
    const probe = async () => {
      const asked = Promise.withResolvers<undefined>()
      probes.push(asked)
      await asked.promise
    }
    held.hold({ key: 'key', destination: 'desk', instance, reason, probe })
  }
  return { clock, held, probes, hold }
}

test('probes come after 1 s, then after twice as long each time, at most every 30 s', async () => {
  const { clock, probes, hold } = setUp()
  hold('away')
  for (const [index, pauseMs] of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].entries()) {
    await clock.advance(pauseMs - 1)
    assert.equal(probes.length, index, `no probe before ${pauseMs} ms`)
    await clock.advance(1)
    assert.equal(probes.length, index + 1, `a probe after ${pauseMs} ms`)
    probes[index]?.reject(new Error('still away'))
    await clock.advance(0)
  }
})

describe('a destination that is held again while the probe of the first hold is under way', () => {
  async function heldAgain() {
    const stage = setUp()
    stage.hold('first')
    await stage.clock.advance(30_000)
    stage.held.releaseAll()
    stage.hold('second')
    return stage
  }

  test('stays held when that probe succeeds', async () => {
    const { clock, held, probes } = await heldAgain()
    probes[0]?.resolve(undefined)
    await clock.advance(0)
    assert.deepEqual(
      held.list().map(({ reason }) => reason),
      ['second'],
    )
  })

  test('keeps its own reason and its own probes when that probe fails', async () => {
    const { clock, held, probes } = await heldAgain()
    probes[0]?.reject(new Error('old news'))
    await clock.advance(30_000)
    assert.deepEqual(
      held.list().map(({ reason }) => reason),
      ['second'],
    )
    assert.equal(probes.length, 2, 'one probe for each hold')
  })
})

test('those that wait hear whether a probe succeeded or the configuration changed', async () => {
  const { clock, held, probes, hold } = setUp()
  hold('away')
  const probed = held.waitFor('key', 'b')
  await clock.advance(30_000)
  probes[0]?.resolve(undefined)
  assert.equal(await probed, 'works')
  hold('away')
  const changed = held.waitFor('key', 'b')
  held.releaseAll()
  assert.equal(await changed, 'changed')
  assert.equal(held.waitFor('key', 'b'), undefined)
})

test('after the end nothing is probed, also for a destination that is held late', async () => {
  const { clock, held, probes, hold } = setUp()
  hold('before')
  held[Symbol.dispose]()
  hold('after')
  await clock.advance(60_000)
  assert.deepEqual([probes.length, clock.pending], [0, 0])
})

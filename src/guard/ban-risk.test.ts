import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { BanRisk } from './ban-risk.ts'

const minute = 60_000

function setUp() {
  const clock = new ManualClock()
  return { clock, risk: new BanRisk({ clock }) }
}

test('an account that sends nothing is no risk', () => {
  const { risk } = setUp()
  assert.deepEqual(risk.snapshot('a'), {
    velocity: 0,
    diversity: 0,
    ratio: 1,
    samples: 0,
    alerts: [],
    score: 0,
    level: 'ok',
  })
})

test('more than 30 a minute is told once, until it clears', async () => {
  const { clock, risk } = setUp()
  const rising = Array.from({ length: 40 }, () => risk.record('a', 'x', true)).flat()
  assert.deepEqual(rising, ['high_velocity'])
  assert.deepEqual(risk.evaluate('a'), [])
  assert.equal(risk.snapshot('b').level, 'ok')
  await clock.advance(minute)
  assert.deepEqual(risk.evaluate('a'), [])
  assert.deepEqual(risk.snapshot('a').alerts, [])
  assert.deepEqual(Array.from({ length: 31 }, () => risk.record('a', 'x', true)).flat(), ['high_velocity'])
})

test('more than 20 people in 5 minutes', async () => {
  const { clock, risk } = setUp()
  for (let n = 0; n < 21; n++) {
    await clock.advance(10_000)
    assert.deepEqual(risk.record('a', `p${n}`, true), n === 20 ? ['burst_outreach'] : [])
  }
  assert.equal(risk.snapshot('a').level, 'moderate')
  await clock.advance(5 * minute)
  assert.equal(risk.snapshot('a').level, 'ok')
})

test('too little is delivered, once there is enough to judge', () => {
  const { risk } = setUp()
  for (let n = 0; n < 9; n++) assert.deepEqual(risk.record('a', 'x', false), [])
  assert.equal(risk.snapshot('a').ratio, 0)
  assert.deepEqual(risk.record('a', 'x', false), ['low_delivery'])
})

test('after any samples, the score lies between 0 and 1, alerts follow their signals, and the level follows both', async () => {
  const action = fc.record({ recipient: fc.nat(30), delivered: fc.boolean(), passMs: fc.nat(20_000) })
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 120 }), async (actions) => {
      const { clock, risk } = setUp()
      for (const { recipient, delivered, passMs } of actions) {
        await clock.advance(passMs)
        risk.record('a', `p${recipient}`, delivered)
        const seen = risk.snapshot('a')
        assert.ok(seen.score >= 0 && seen.score <= 1 && seen.ratio >= 0 && seen.ratio <= 1)
        assert.equal(seen.alerts.includes('high_velocity'), seen.velocity > 30)
        assert.equal(seen.alerts.includes('burst_outreach'), seen.diversity > 20)
        assert.equal(seen.alerts.includes('low_delivery'), seen.samples >= 10 && seen.ratio < 0.7)
        if (seen.alerts.length > 0) assert.ok(seen.level === 'moderate' || seen.level === 'high')
        if (seen.score >= 0.7) assert.equal(seen.level, 'high')
      }
      await clock.advance(11 * minute)
      assert.equal(risk.snapshot('a').level, 'ok')
    }),
    { numRuns: 20 },
  )
})

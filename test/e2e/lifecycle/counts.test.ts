// Every lifecycle event of a pairing, a drop and a logout is told exactly once, whichever side logs out.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import { LinkedStage } from '../../harness/linked-stage.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const owner = '5511999990001'

/** Everything but the QR codes, whose number depends on how long a scan takes. */
async function told(stage: LinkedStage): Promise<Record<string, number>> {
  const { qr_generated: codes = 0, ...events } = await stage.events('a')
  assert.ok(codes > 0, 'a code was told of')
  return events
}

const sides: Record<string, (stage: LinkedStage, phone: SimPhone) => unknown> = {
  'the phone': (_, phone) => {
    phone.unlink()
  },
  'a request': (stage) => stage.post('/a/logout'),
  'two requests at once': (stage) => Promise.all([stage.post('/a/logout'), stage.post('/a/logout')]),
  'both sides at once': (stage, phone) => {
    const asked = stage.post('/a/logout')
    phone.unlink()
    return asked
  },
}

/** Events are counted when they are stored, a moment after the state has changed. */
async function tells(stage: LinkedStage, expected: Record<string, number>): Promise<void> {
  const total = Object.values(expected).reduce((sum, count) => sum + count, 0)
  await waitUntil(`${total} events are told`, async () => {
    const counts = Object.values(await told(stage))
    return counts.reduce((sum, count) => sum + count, 0) >= total
  })
  assert.deepEqual(await told(stage), expected)
}

describe('a logout by', () => {
  for (const [side, logOut] of Object.entries(sides)) {
    test(`${side} is told once, beside one paired and one connected`, async () => {
      await using stage = await LinkedStage.open()
      const phone = await stage.pair('a')
      await tells(stage, { paired: 1, connected: 1 })
      await logOut(stage, phone)
      await stage.reaches('a', 'logged_out')
      await waitUntil('the phone forgets the device', () => phone.companions.length === 0)
      await tells(stage, { paired: 1, connected: 1, logged_out: 1 })
      // A second life counts anew, and what was left over from the first would show by now.
      await stage.pair('a')
      await stage.network.strike({ kind: 'drop', account: owner })
      await waitUntil('the drop is told', async () => (await told(stage))['disconnected'] === 1)
      await stage.reaches('a', 'ready')
      await tells(stage, { paired: 2, connected: 2, logged_out: 1, disconnected: 1 })
    })
  }

  test('a ban is one strike and one logout', async () => {
    await using stage = await LinkedStage.open()
    await stage.pair('a')
    stage.network.fault({ kind: 'login_failure', code: 403, times: Infinity })
    await stage.network.strike({ kind: 'drop', account: owner })
    await stage.reaches('a', 'logged_out')
    await tells(stage, { paired: 1, connected: 1, disconnected: 1, strike: 1, logged_out: 1 })
  })
})

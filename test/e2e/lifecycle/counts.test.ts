// Every lifecycle event of a pairing, a drop and a logout is told exactly once, whichever side logs out.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import { World } from '../../harness/world.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const owner = '5511999990001'

/** Everything but the QR codes, whose number depends on how long a scan takes, and the start, which is told after 8 s. */
async function told(world: World): Promise<Record<string, number>> {
  const { qr_generated: codes = 0, backend_started: starts = 0, ...events } = await world.events('a')
  assert.ok(codes > 0, 'a code was told of')
  assert.ok(starts <= 1, 'the start was told more often')
  return events
}

const sides: Record<string, (world: World, phone: SimPhone) => unknown> = {
  'the phone': (_, phone) => {
    phone.unlink()
  },
  'a request': (world) => world.command('/a/logout'),
  'two requests at once': (world) => Promise.all([world.command('/a/logout'), world.command('/a/logout')]),
  'both sides at once': (world, phone) => {
    const asked = world.command('/a/logout')
    phone.unlink()
    return asked
  },
}

/** Events are counted when they are stored, a moment after the state has changed. */
async function tells(world: World, expected: Record<string, number>): Promise<void> {
  const total = Object.values(expected).reduce((sum, count) => sum + count, 0)
  await waitUntil(`${total} events are told`, async () => {
    const counts = Object.values(await told(world))
    return counts.reduce((sum, count) => sum + count, 0) >= total
  })
  assert.deepEqual(await told(world), expected)
}

describe('a logout by', () => {
  for (const [side, logOut] of Object.entries(sides)) {
    test(`${side} is told once, beside one paired and one connected`, async () => {
      await using world = await World.unlinked()
      const phone = await world.pair('a')
      await tells(world, { paired: 1, connected: 1 })
      await logOut(world, phone)
      await world.reaches('a', 'logged_out')
      await waitUntil('the phone forgets the device', () => phone.companions.length === 0)
      await tells(world, { paired: 1, connected: 1, logged_out: 1 })
      // A second life counts anew, and what was left over from the first would show by now.
      await world.pair('a')
      await world.network.strike({ kind: 'drop', account: owner })
      await waitUntil('the drop is told', async () => (await told(world))['disconnected'] === 1)
      await world.reaches('a', 'ready')
      await tells(world, { paired: 2, connected: 2, logged_out: 1, disconnected: 1 })
    })
  }

  test('a ban is one strike and one logout', async () => {
    await using world = await World.unlinked()
    await world.pair('a')
    world.network.fault({ kind: 'login_failure', code: 403, times: Infinity })
    await world.network.strike({ kind: 'drop', account: owner })
    await world.reaches('a', 'logged_out')
    await tells(world, { paired: 1, connected: 1, disconnected: 1, strike: 1, logged_out: 1 })
  })
})

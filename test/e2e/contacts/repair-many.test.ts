// A helpdesk inbox with 3,000 contacts of another bridge, some of them twice: each person becomes one contact, and a second run
// changes nothing.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { otherBridges } from '../../../src/core/other-bridges/other-bridges.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { fillChat, fillMany, fillOwnContact } from '../../harness/other-bridges.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { mergesIn, repair, stateOf, stating } from './harness/repairs.ts'

const people = 2_880
const twice = 40
/** Brazilian mobile numbers: the network spells the first ones with the ninth digit. */
const firstPhone = 5_511_970_000_000
const phoneOf = (index: number) => String(firstPhone + index)
const shortOf = (index: number) => phoneOf(index).replace(/^(55\d\d)9/, '$1')
const lidOf = (index: number) => String(200_000_000_000_000 + index)

describe('3,000 contacts', () => {
  for (const bridge of otherBridges) {
    test(`as ${bridge} fills a helpdesk inbox`, { timeout: 600_000 }, async () => {
      const some = Array.from({ length: 3 * twice }, (_, index) => index)
      // Of the first ones the network stated the anonymous id, of the second ones the spelling. The third ones are unknown.
      const stated = some.slice(0, 2 * twice).map((index) => [phoneOf(index), lidOf(index)] as const)
      await using world = await World.open({ clock: new FastClock(20), seed: stating(stated) })
      const { helpdesk } = world
      const filled = fillMany(helpdesk, bridge, people, { firstPhone })
      for (const index of some) {
        const other = index < twice ? { lid: lidOf(index) } : { phone: shortOf(index) }
        fillChat(helpdesk, bridge, { ...other, name: `Person ${index}` })
      }
      fillOwnContact(helpdesk, bridge)
      const own = bridge === 'gowa' ? 0 : 1
      const before = stateOf(helpdesk)

      // The work of the test delays the service, which shares its process.
      const takesRequests = async () => (await world.service.get('/api/jobs')).status === 200
      await waitUntil('the service takes requests', takesRequests)
      const found = await repair(world, true)
      assert.deepEqual(stateOf(helpdesk), before)
      const counts = { scanned: people + 3 * twice + own, pairs: 3 * twice }
      const { listed, ...sums } = found
      assert.deepEqual(sums, { ...counts, merged: 0, skipped: twice, errors: 0 })
      const outcomes = Map.groupBy(listed, ({ reason, outcome }) => `${reason} ${outcome}`)
      assert.deepEqual(
        new Map([...outcomes].map(([each, pairs]) => [each, pairs.length])),
        new Map([
          ['phone_and_lid would_merge', twice],
          ['mobile_variants would_merge', twice],
          ['mobile_variants spelling_unknown', twice],
        ]),
      )

      await waitUntil('the service takes requests', takesRequests)
      const { listed: done, ...merged } = await repair(world)
      assert.deepEqual(merged, { ...counts, merged: 2 * twice, skipped: twice, errors: 0 })
      const kept = done.filter(({ outcome }) => outcome === 'merged').map(({ keep }) => keep)
      assert.deepEqual(
        kept.toSorted(),
        filled
          .slice(0, 2 * twice)
          .map(({ contactId }) => contactId)
          .toSorted(),
      )
      assert.equal(helpdesk.see.contacts().length, people + twice + own)
      assert.equal(helpdesk.see.conversations().length, before.conversations.length)
      assert.equal(helpdesk.see.messages().length, before.messages.length)
      assert.equal((await mergesIn(world)).length, 2 * twice)

      const after = stateOf(helpdesk)
      await waitUntil('the service takes requests', takesRequests)
      const { merged: again, pairs, errors } = await repair(world)
      assert.deepEqual([again, pairs, errors], [0, twice, 0])
      assert.deepEqual(stateOf(helpdesk), after)
      helpdesk.assertNothingRefused()
    })
  }
})

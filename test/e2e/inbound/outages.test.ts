// A helpdesk takes nothing for a long time: messages wait and are told of, no other tenant is delayed, and all arrive.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Fault } from '../../../sim/helpdesk/faults/fault-plan.ts'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import { assertOnceInOrder, people } from '../../harness/chats.ts'
import { tenantSettings } from '../../harness/destination.ts'
import { World } from '../../harness/world.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { rounds } from '../../harness/rounds.ts'
import { waitUntil } from '../../harness/wait-until.ts'

type Outage = { name: string; fault: (inboxId: number) => Fault; isHeld: boolean }

const outages: Outage[] = [
  { name: 'is away', fault: () => ({ kind: 'refused' }), isHeld: true },
  { name: 'refuses the token', fault: () => ({ kind: 'wrong_token' }), isHeld: true },
  { name: 'has lost the inbox', fault: (inboxId) => ({ kind: 'inbox_deleted', inboxId }), isHeld: true },
  { name: 'has suspended the account', fault: () => ({ kind: 'account_suspended' }), isHeld: true },
  { name: 'answers 503', fault: () => ({ kind: 'status', status: 503 }), isHeld: false },
  { name: 'answers 429', fault: () => ({ kind: 'status', status: 429 }), isHeld: false },
]

const minute = 60_000
const minutes = rounds({ gate: 15, long: 60 })
const chats = 4

/** The second account belongs to a tenant with a helpdesk of its own. */
async function giveAway(world: World, other: SimHelpdesk): Promise<void> {
  await world.service.request('PUT', '/api/tenants/acme', { body: tenantSettings(other) })
  await world.service.request('PATCH', '/api/instances/n1', { body: { owner_tag: 'acme' } })
}

async function gauges(world: World): Promise<{ pending: number; held: number }> {
  const { text } = await world.service.get('/metrics')
  const read = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
  return { pending: read('service_inbox_pending'), held: read('service_destinations_held') }
}

// Side by side: each minute that passes waits for the disk.
describe(`${minutes} minutes in which the helpdesk`, { concurrency: true }, () => {
  for (const { name, fault, isHeld } of outages) {
    test(name, { timeout: 600_000 }, async () => {
      const clock = new LeapingClock()
      await using other = await SimHelpdesk.start({ quirks: calm, clock, seed: 'another' })
      await using world = await World.open({ accounts: 2, clock, helpdesk: { clock } })
      const { helpdesk, phones } = world
      await giveAway(world, other)
      const settle = async () => {
        await world.health()
      }
      const everybody = people(world, chats)
      let written = 0
      const writeRound = () => {
        for (const [at, person] of everybody.entries()) person.text(world.phone, `p${at} ${written}`)
        written++
      }
      // Two chats are known before, the others begin in the dark.
      for (const [at, person] of everybody.slice(0, 2).entries())
        await world.arrived(person.text(world.phone, `p${at} 0`))
      await world.drained()
      await helpdesk.fault(fault(helpdesk.facts.inbox_id))
      for (const [at, person] of everybody.slice(2).entries()) person.text(world.phone, `p${at + 2} 0`)
      written = 1
      for (let passed = 0; passed < minutes; passed++) {
        if (passed % 5 === 0) writeRound()
        await clock.advance(minute, settle)
      }
      const waiting = (written - 1) * chats + 2
      // On a busy machine a skipped minute may look like a short outage, for example of the database.
      const isShown = async () => {
        const { status, checks } = await world.health()
        return checks.inbox_pending === waiting && status === (isHeld ? 'degraded' : 'ok')
      }
      await waitUntil('the backlog shows in health', isShown, { instead: () => world.health() })
      const { checks } = await world.health()
      assert.deepEqual([checks.inbox_parked, checks.destinations_held.length], [0, isHeld ? 1 : 0])
      assert.deepEqual(await gauges(world), { pending: waiting, held: isHeld ? 1 : 0 })
      const [maria] = everybody
      const [, colleague] = phones
      assert.ok(maria && colleague)
      const elsewhere = maria.text(colleague, 'to the other tenant')
      await other.waitForMessage(undefined, ({ sourceId }) => sourceId === elsewhere.id)

      await helpdesk.clearFaults()
      await waitUntil('everything that waited is delivered', async () => {
        await clock.advance(10_000, settle)
        return (await world.health()).checks.inbox_pending === 0
      })
      assertOnceInOrder(world, chats, written)
      await waitUntil('health is ok', async () => (await world.health()).status === 'ok')
      assert.deepEqual(await gauges(world), { pending: 0, held: 0 })
    })
  }
})

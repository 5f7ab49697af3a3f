// A helpdesk takes nothing for an hour: messages wait and are told of, nobody else is delayed, and all of it arrives.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Fault } from '../../../sim/helpdesk/faults/fault-plan.ts'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../../sim/helpdesk/sim-helpdesk.ts'
import { assertOnceInOrder, people } from '../../harness/chats.ts'
import { InboundStage } from '../../harness/inbound-stage.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
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
const chats = 4

/** The second account belongs to a tenant with a helpdesk of its own. */
async function giveAway(stage: InboundStage, other: SimHelpdesk): Promise<void> {
  const { url, api_token, inbox_id } = other.facts
  const body = { downstream_base_url: url, downstream_api_token: api_token, downstream_inbox_id: inbox_id }
  await stage.service.request('PUT', '/api/tenants/acme', { body })
  await stage.service.request('PATCH', '/api/instances/n1', { body: { owner_tag: 'acme' } })
}

async function gauges(stage: InboundStage): Promise<{ pending: number; held: number }> {
  const { text } = await stage.service.get('/metrics')
  const read = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
  return { pending: read('service_inbox_pending'), held: read('service_destinations_held') }
}

// Side by side: each minute that passes waits for the disk.
describe('an hour in which the helpdesk', { concurrency: true }, () => {
  for (const { name, fault, isHeld } of outages) {
    test(name, { timeout: 180_000 }, async () => {
      const clock = new LeapingClock()
      await using other = await SimHelpdesk.start({ quirks: calm, clock })
      await using stage = await InboundStage.open({ accounts: 2, clock, helpdesk: { clock } })
      const { helpdesk, phones } = stage
      await giveAway(stage, other)
      const settle = async () => {
        await stage.health()
      }
      const everybody = people(stage, chats)
      let written = 0
      const writeRound = () => {
        for (const [at, person] of everybody.entries()) person.text(stage.phone, `p${at} ${written}`)
        written++
      }
      // Two chats are known before, the others begin in the dark.
      for (const [at, person] of everybody.slice(0, 2).entries())
        await stage.arrived(person.text(stage.phone, `p${at} 0`))
      await stage.drained()
      await helpdesk.fault(fault(helpdesk.facts.inbox_id))
      for (const [at, person] of everybody.slice(2).entries()) person.text(stage.phone, `p${at + 2} 0`)
      written = 1
      for (let passed = 0; passed < 60; passed++) {
        if (passed % 10 === 0) writeRound()
        await clock.advance(minute, settle)
      }
      const waiting = (written - 1) * chats + 2
      await waitUntil(
        'the backlog shows in health',
        async () => (await stage.health()).checks.inbox_pending === waiting,
      )
      const { status, checks } = await stage.health()
      assert.deepEqual([checks.inbox_parked, checks.destinations_held.length], [0, isHeld ? 1 : 0])
      assert.equal(status, isHeld ? 'degraded' : 'ok')
      assert.deepEqual(await gauges(stage), { pending: waiting, held: isHeld ? 1 : 0 })
      const [maria] = everybody
      const [, colleague] = phones
      assert.ok(maria && colleague)
      const elsewhere = maria.text(colleague, 'to the other tenant')
      await other.waitForMessage(undefined, ({ sourceId }) => sourceId === elsewhere.id)

      await helpdesk.clearFaults()
      await clock.advance(minute, settle)
      await stage.drained()
      assertOnceInOrder(stage, chats, written)
      assert.equal((await stage.health()).status, 'ok')
      assert.deepEqual(await gauges(stage), { pending: 0, held: 0 })
    })
  }
})

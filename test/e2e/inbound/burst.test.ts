// A burst of messages meets a helpdesk that fails in every way it can, and restarts of both sides.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fault } from '../../../sim/helpdesk/faults/fault-plan.ts'
import { assertOnceInOrder, mistakesAtHelpdesk, people, textsByConversation } from '../../harness/chats.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { World } from '../../harness/world.ts'
import { rounds } from '../../harness/rounds.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const posts = { method: 'POST', path: /\/messages$/ }
const openings = { method: 'POST', path: /\/(conversations|contacts)$/ }
// Committed before or after we have stopped waiting, which is after 5 s.
const late = { kind: 'timeout', commit: 'late', commitMs: [1000, 14_900] } as const

const faults: Fault[] = [
  { kind: 'status', status: 500, probability: 0.02, ...posts },
  { kind: 'status', status: 500, afterCommit: true, probability: 0.02, ...posts },
  { kind: 'status', status: 503, probability: 0.02, ...posts },
  { kind: 'status', status: 429, probability: 0.02 },
  { kind: 'cut', probability: 0.02 },
  { kind: 'cut', afterCommit: true, probability: 0.02, ...posts },
  { kind: 'timeout', commit: 'at_once', probability: 0.01, ...posts },
  { ...late, probability: 0.02, ...posts },
  { ...late, probability: 0.1, ...openings },
  { kind: 'cut', afterCommit: true, probability: 0.1, ...openings },
]

const chats = 20
const perChat = rounds({ gate: 10, long: 25 })
const total = chats * perChat
// When the helpdesk and the service restart in turn: after these parts of the burst.
const restarts = [0.04, 0.18, 0.36, 0.54, 0.72]

test(
  `${total} messages over 20 chats arrive once, in order, in one conversation each`,
  { timeout: 600_000 },
  async () => {
    const clock = new FastClock(10)
    const environment = { DOWNSTREAM_TIMEOUT: '5s' }
    await using world = await World.open({ clock, helpdesk: { seed: 'burst', clock }, environment })
    const { helpdesk } = world
    // Each fault strikes once for certain, and then by chance.
    for (const fault of faults) await helpdesk.fault({ ...fault, probability: 1, times: 1 })
    for (const fault of faults) await helpdesk.fault(fault)
    const everybody = people(world, chats)
    for (let index = 0; index < perChat; index++) {
      for (const [at, person] of everybody.entries()) person.text(world.phone, `p${at} ${index}`)
    }
    const arrived = async (count: number) => {
      const enough = () => helpdesk.messages().length >= count
      await waitUntil(`${count} are there`, enough, { timeoutMs: 300_000, instead: () => helpdesk.messages().length })
    }
    for (const [round, part] of restarts.entries()) {
      await arrived(total * part)
      if (round % 2 === 0) await helpdesk.restart(3000)
      else await world.restart()
    }
    await arrived(total)
    await world.drained()
    const unspent = helpdesk.faults.filter(({ fault }) => fault.times === 1)
    assert.deepEqual(unspent, [], 'every fault has struck')
    assertOnceInOrder(world, chats, perChat)
    assert.equal((await world.health()).checks.inbox_parked, 0)
  },
)

test('without waiting for late commits the same faults double messages', async () => {
  const clock = new FastClock(10)
  const environment = { DOWNSTREAM_TIMEOUT: '5s' }
  await using world = await World.open({ clock, helpdesk: { seed: 'burst', clock }, environment, lateCommitMs: 0 })
  const { helpdesk } = world
  await helpdesk.fault({ ...late, commitMs: [14_000, 14_900], times: 10, ...posts })
  const everybody = people(world, 5)
  for (let index = 0; index < 5; index++) {
    for (const [at, person] of everybody.entries()) person.text(world.phone, `p${at} ${index}`)
  }
  const doubled = () => mistakesAtHelpdesk(world, 5).doubled
  await waitUntil('a message is there twice', () => doubled().length > 0, { instead: () => textsByConversation(world) })
})

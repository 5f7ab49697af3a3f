// A burst of messages meets a helpdesk that fails in every way it can, and restarts of both sides.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fault } from '../../../sim/helpdesk/faults/fault-plan.ts'
import { assertOnceInOrder, people, textsByConversation } from '../../harness/chats.ts'
import { FastClock } from '../../harness/fast-clock.ts'
import { InboundStage } from '../../harness/inbound-stage.ts'
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

test('500 messages over 20 chats arrive once, in order, in one conversation each', { timeout: 180_000 }, async () => {
  const clock = new FastClock(10)
  const environment = { DOWNSTREAM_TIMEOUT: '5s' }
  await using stage = await InboundStage.open({ clock, helpdesk: { seed: 'burst', clock }, environment })
  const { helpdesk } = stage
  for (const fault of faults) await helpdesk.fault(fault)
  const everybody = people(stage, 20)
  const perChat = 25
  for (let index = 0; index < perChat; index++) {
    for (const [at, person] of everybody.entries()) person.text(stage.phone, `p${at} ${index}`)
  }
  const arrived = async (count: number) => {
    const enough = () => helpdesk.messages().length >= count
    await waitUntil(`${count} are there`, enough, { timeoutMs: 150_000, instead: () => helpdesk.messages().length })
  }
  // The helpdesk three times, the service twice.
  for (const [round, count] of [20, 90, 180, 270, 360].entries()) {
    await arrived(count)
    if (round % 2 === 0) await helpdesk.restart(3000)
    else await stage.restart()
  }
  await arrived(20 * perChat)
  await stage.drained()
  const struck = helpdesk.faults.map((one) => one.struck)
  assert.ok(
    struck.every((times) => times > 0),
    `every fault must have struck: ${struck.join(', ')}`,
  )
  assertOnceInOrder(stage, 20, perChat)
  assert.equal((await stage.health()).checks.inbox_parked, 0)
})

test('without waiting for late commits the same faults double messages', async () => {
  const clock = new FastClock(10)
  const environment = { DOWNSTREAM_TIMEOUT: '5s' }
  const helpdeskOptions = { seed: 'burst', clock }
  await using stage = await InboundStage.open({ clock, helpdesk: helpdeskOptions, environment, lateCommitMs: 0 })
  const { helpdesk } = stage
  await helpdesk.fault({ ...late, commitMs: [8000, 14_900], probability: 0.2, ...posts })
  const everybody = people(stage, 5)
  for (let index = 0; index < 5; index++) {
    for (const [at, person] of everybody.entries()) person.text(stage.phone, `p${at} ${index}`)
  }
  const doubled = () => textsByConversation(stage).some((texts) => new Set(texts).size < texts.length)
  await waitUntil('a message is there twice', doubled, { instead: () => textsByConversation(stage) })
})

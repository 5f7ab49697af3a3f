// The count that the demo shows notices what is lost and what is doubled.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent } from '../../demo/agent.ts'
import { Customer } from '../../demo/customer.ts'
import { Passages } from '../../demo/passages.ts'
import { Stage } from '../../demo/stage.ts'
import { DeskClient, openChat } from '../sim-helpdesk/harness/desk-client.ts'
import { waitUntil } from '../harness/wait-until.ts'

/** Both simulators without the service between them: nothing is passed on by itself. */
async function openStage() {
  const end = new AsyncDisposableStack()
  const stage = await Stage.open(end)
  end.use(stage.world)
  const passages = new Passages(stage)
  const people = { customer: new Customer(stage, passages), agent: new Agent(stage) }
  return { stage, passages, ...people, [Symbol.asyncDispose]: () => end[Symbol.asyncDispose]() }
}

test('a message that the helpdesk does not get is missing, and one that it gets twice is doubled', async () => {
  await using open = await openStage()
  const { stage, passages, customer } = open
  const { number } = customer.write('hello')
  assert.deepEqual(passages.tally(), {
    in: { sent: 1, arrived: 0 },
    out: { sent: 0, arrived: 0 },
    failed: 0,
    doubled: 0,
  })
  const desk = new DeskClient(stage.world.helpdesk)
  const conversation = await openChat(desk, stage.maria.user.phone)
  const message = { content: 'hello', message_type: 'incoming', source_id: customer.written[0]?.sent.id }
  await desk.post(`/conversations/${conversation}/messages`, message)
  assert.deepEqual(passages.tally(), {
    in: { sent: 1, arrived: 1 },
    out: { sent: 0, arrived: 0 },
    failed: 0,
    doubled: 0,
  })
  await waitUntil('it has arrived', () =>
    passages.list().some((each) => each.number === number && each.arrivedAt !== null),
  )
  await desk.post(`/conversations/${conversation}/messages`, message)
  assert.equal(passages.tally().doubled, 1)
})

test('an answer that the phone does not get is missing, and one that it gets twice is doubled', async () => {
  await using open = await openStage()
  const { stage, passages, agent } = open
  const conversation = await openChat(new DeskClient(stage.world.helpdesk), stage.maria.user.phone)
  await agent.answer(conversation, 'yes')
  assert.deepEqual(passages.tally(), {
    in: { sent: 0, arrived: 0 },
    out: { sent: 1, arrived: 0 },
    failed: 0,
    doubled: 0,
  })
  stage.phone.text(stage.maria, 'yes')
  await waitUntil('it has arrived', () => passages.tally().out.arrived === 1)
  assert.equal(passages.tally().doubled, 0)
  stage.phone.text(stage.maria, 'yes')
  await waitUntil('the second copy counts', () => passages.tally().doubled === 1)
})

test('an answer that is deleted before it was sent is not missed, and the next one is not taken for it', async () => {
  await using open = await openStage()
  const { stage, passages, agent } = open
  const conversation = await openChat(new DeskClient(stage.world.helpdesk), stage.maria.user.phone)
  const first = await agent.answer(conversation, 'a slip')
  const second = await agent.answer(conversation, 'the right one')
  await agent.delete(conversation, first)
  const { isWithdrawn } = passages.ofAnswer(first)
  assert.deepEqual([isWithdrawn, passages.ofAnswer(first, true).isWithdrawn], [true, true])
  assert.deepEqual(passages.tally().out, { sent: 1, arrived: 0 })
  stage.phone.text(stage.maria, 'the right one')
  await waitUntil('it has arrived', () => passages.ofAnswer(second).arrivedAt !== null)
  assert.deepEqual(passages.tally(), {
    in: { sent: 0, arrived: 0 },
    out: { sent: 1, arrived: 1 },
    failed: 0,
    doubled: 0,
  })
})

test('an answer that was sent while the agent deleted it arrives, and its deletion is waited for', async () => {
  await using open = await openStage()
  const { stage, passages, agent } = open
  const conversation = await openChat(new DeskClient(stage.world.helpdesk), stage.maria.user.phone)
  const id = await agent.answer(conversation, 'a slip')
  await agent.delete(conversation, id)
  const sent = stage.phone.text(stage.maria, 'a slip')
  await waitUntil('it has arrived', () => passages.ofAnswer(id).arrivedAt !== null)
  assert.deepEqual(passages.tally().out, { sent: 2, arrived: 1 })
  stage.phone.revoke(sent)
  await waitUntil('the deletion has arrived', () => passages.tally().out.arrived === 2)
  assert.equal(passages.tally().doubled, 0)
})

test('an answer that is written in the whole view of the agent counts, too', async () => {
  await using open = await openStage()
  const { stage, passages } = open
  const desk = new DeskClient(stage.world.helpdesk)
  const conversation = await openChat(desk, stage.maria.user.phone)
  await desk.post(`/conversations/${conversation}/messages`, { content: 'hi', message_type: 'outgoing' })
  stage.phone.text(stage.maria, 'hi')
  await waitUntil('it has arrived', () => passages.tally().out.arrived === 1)
  assert.deepEqual(passages.tally(), {
    in: { sent: 0, arrived: 0 },
    out: { sent: 1, arrived: 1 },
    failed: 0,
    doubled: 0,
  })
})

// The stage sees what goes wrong on it: a forged message on each side, a message that cannot be read, and a second connection of
// one session.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { ClusterStage } from './harness/cluster-stage.ts'
import type { ChatHistory } from './harness/history.ts'
import { violationsIn } from './harness/history-checker.ts'
import { outboxLinesOf } from './harness/lost-answers.ts'

const options = { nodes: 2, accounts: 1, customersPerAccount: 1 }

function chatOf(stage: ClusterStage): ChatHistory {
  const [chat] = stage.history.chats
  assert.ok(chat)
  return chat
}

test(
  'a stage names what arrived twice, what could not be read, who opened a second connection, and the rows of answers',
  { skip: withoutPostgres },
  async () => {
    await using stage = await ClusterStage.open(options)
    stage.traffic.start()
    await waitUntil('an answer is accepted', () => stage.traffic.counts.accepted > 0)
    await stage.assertNothingWrong()
    assert.ok(stage.witness.stepsSeen > 0, 'the ratchets of the account are seen')
    const [line = '', ...lines] = await outboxLinesOf(stage.parts, ['n0 c0: n0 c0 out 1', 'n0 c0: not written'])
    // The outbox notes the answers to callbacks some at a time, so it may not be sure yet what the helpdesk shows.
    assert.match(line, /^n0 c0 out 1: message \d+ is sent, shown (sent|unsure), attempts 1, reason none$/)
    assert.deepEqual(lines, ['not written: message 0 has no row'])
    const { network, helpdesk, phones } = stage.parts
    const [phone] = phones
    const [person] = network.people()
    const { inbound, conversations } = chatOf(stage)
    const [first] = inbound.written
    const [conversation] = conversations
    assert.ok(phone && person && first && conversation !== undefined)

    helpdesk.world.addMessage(conversation, { content: 'forged', messageType: 'incoming', sourceId: first.id })
    phone.text(person, 'n0 c0 out 1')
    network.fault({ kind: 'undecryptable' })
    const damaged = person.text(phone, 'damaged').id
    await person.receipts.waitFor('the service asks again', ({ type }) => type === 'retry')
    await helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === damaged)
    const owner = await stage.ownerOf('n0')
    await stage.moving(owner, () => {
      owner.stop()
    })

    const found = violationsIn(stage.history)
    assert.deepEqual(found.idsTwice, [first.id])
    assert.deepEqual(found.inbound, {
      lost: [],
      doubled: [`n0 c0: ${first.id}`],
      misplaced: [`n0 c0: ${damaged}`],
      outOfOrder: [],
    })
    assert.deepEqual(found.outbound.doubled, ['n0 c0: n0 c0 out 1'])
    assert.deepEqual(found.unreadable, [`n0 c0: ${damaged}: asked for again`])
    assert.deepEqual(found.secondSockets, [phone.user.phone])
    assert.deepEqual([found.unconfirmed, found.reusedSteps, found.secondConversations], [[], [], []])
  },
)

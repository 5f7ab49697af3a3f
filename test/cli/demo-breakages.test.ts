// npm run demo: clicks in any order leave a true count.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Snapshot } from '../../demo/view.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openDemo, ownPlace, snapshotOf } from './harness/demo.ts'

/** A linked demo, and the conversation with the customer on the screen. */
async function openLinked() {
  const stack = new AsyncDisposableStack()
  const { place } = stack.use(await ownPlace())
  const { url, post, link } = stack.use(await openDemo(place))
  assert.equal((await link()).status, 200)
  const see = async (what: string, holds: (seen: Snapshot) => boolean) => {
    let seen = await snapshotOf(url)
    await waitUntil(what, async () => holds((seen = await snapshotOf(url))))
    return seen
  }
  const { helpdesk } = await see('the helpdesk shows the greeting', ({ tally }) => tally.in.arrived === 1)
  const conversation = helpdesk.open ?? 0
  const answer = async (text: string) => {
    assert.equal((await post('answer', { conversation, text })).status, 200)
  }
  return { url, post, see, answer, conversation, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() }
}

test('an answer that is deleted while WhatsApp is cut is withdrawn, and nothing stays on its way', async () => {
  await using demo = await openLinked()
  const { post, see, answer, conversation } = demo
  await post('cut-network')
  await answer('a slip')
  const { helpdesk } = await see('the answer waits', ({ bridge }) => bridge.outboxPending === 1)
  const slip = helpdesk.conversations[0]?.bubbles.at(-1)
  assert.equal((await post('answer-delete', { conversation, message: Number(slip?.id) })).status, 200)
  await see('nothing waits', ({ bridge }) => bridge.outboxPending === 0)
  // Two clicks on each button.
  await Promise.all(['restore-network', 'restore-network'].map((action) => post(action)))
  await answer('the right one')
  const { tally, passages } = await see('the next answer arrives', (seen) => seen.tally.out.arrived === 1)
  assert.deepEqual([tally.out.sent, tally.doubled], [1, 0])
  assert.deepEqual(
    passages.filter(({ isWithdrawn }) => isWithdrawn).map(({ kind }) => kind),
    ['text', 'delete'],
  )
})

test('a second kill in a hurry writes nothing, and the first one loses nothing', async () => {
  await using demo = await openLinked()
  const { post, see } = demo
  const texts = { text: 'before', later: 'while dead' }
  const answers = await Promise.all([post('kill', texts), post('kill', texts)])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
  const { tally, story } = await see('everything arrives', (seen) => seen.tally.in.arrived === seen.tally.in.sent)
  assert.deepEqual(tally.in, { sent: 3, arrived: 3 })
  assert.equal(story.hasBroken, true)
})

test('a reaction and a quote belong to the chat with the shop, also after an answer in the group', async () => {
  await using demo = await openLinked()
  const { post, see, answer } = demo
  await answer('in the chat')
  await post('group', { subject: 'Ride', text: 'Who is in?' })
  const { helpdesk } = await see('the group is at the helpdesk', (seen) => seen.helpdesk.conversations.length === 2)
  const group = helpdesk.conversations.find(({ chat }) => chat === 'group')?.id
  await post('answer', { conversation: group, text: 'in the group' })
  await see('both answers arrive', ({ tally }) => tally.out.arrived === 2)
  await post('reaction')
  await post('quote', { text: 'a quote' })
  const { phone } = await see('the quote is on the phone', (seen) => seen.phone.bubbles.at(-1)?.text === 'a quote')
  assert.equal(phone.bubbles.at(-1)?.quote, 'in the chat')
  assert.deepEqual(
    phone.bubbles.filter(({ reaction }) => reaction !== null).map(({ text }) => text),
    ['in the chat'],
  )
})

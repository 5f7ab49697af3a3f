// Group keys after kill -9: a new phone gets the key again, and a former member cannot read later messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { BotStage } from '../../harness/bot-stage.ts'
import { waitUntil } from '../../harness/wait-until.ts'

async function team() {
  const stage = await BotStage.open({ customers: 1 })
  const { world } = stage
  const bob = stage.customers[0]?.person
  assert.ok(bob)
  const eve = world.network.person({ phone: '5511888880002' })
  const group = world.network.group('Team', bob, [world.phone, eve])
  const { id } = eve.text(group, 'who comes?')
  const { conversationId } = await world.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === id)
  const say = (text: string) => stage.write({ person: bob, conversation: conversationId }, text)
  const confirmed = () => waitUntil('the notice is confirmed', () => world.phone.companion.books.size === 0)
  await say('one')
  for (const member of [bob, eve]) await read(member, 'one')
  return { stage, bob, eve, group, say, confirmed, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
}

async function read({ messages }: SimPerson, text: string): Promise<void> {
  await messages.waitFor(text, (one) => textOfMessage(one.message) === text)
}

test('a member with a new phone reads the next message after kill -9', async () => {
  await using set = await team()
  const { stage, bob, eve, say, confirmed } = set
  bob.reinstall()
  await confirmed()
  await stage.restart('SIGKILL')
  await say('two')
  for (const member of [bob, eve]) await read(member, 'two')
  assert.deepEqual([...bob.undecryptable.entries, ...eve.undecryptable.entries], [])
})

for (const [when, isAwaited] of [
  ['at the removal', false],
  ['after the removal is stored', true],
] as const) {
  test(`a former member cannot read later messages after kill -9 ${when}`, async () => {
    await using set = await team()
    const { stage, bob, eve, group, say, confirmed } = set
    group.change(bob.user, 'remove', eve.user)
    group.listeners.add(eve.device)
    if (isAwaited) await confirmed()
    await stage.restart('SIGKILL')
    await say('two')
    await read(bob, 'two')
    await waitUntil('Eve has tried the message', () => eve.undecryptable.length > 0 || eve.messages.length > 1)
    assert.equal(
      eve.messages.entries.some(({ message }) => textOfMessage(message) === 'two'),
      false,
    )
  })
}

// Typing costs the helpdesk little and never holds up messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import {
  counted,
  deviceOf,
  opened,
  shows,
  subscriptionsOf,
  typingRequests,
  watched,
} from '../../harness/typing-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'

test('a customer who types for a minute costs a look at the conversation, a request per repetition and the end', async () => {
  await using world = await AgentWorld.open({ clock: new ManualClock(Date.now()) })
  const conversation = await watched(world)
  await world.helpdesk.settled()
  // We no longer trust that the conversation is open.
  await world.passTime(6000)
  const before = world.helpdesk.requests.length
  for (let repetition = 1; repetition <= 6; repetition++) {
    world.bob.typing(world.phone)
    await counted(world, { ok: repetition })
    await world.passTime(10_000)
  }
  world.bob.typing(world.phone, 'paused')
  await shows(world, conversation, false)
  const asked = world.helpdesk.requests.slice(before).map(({ method, path }) => `${method} ${path.split('?')[0] ?? ''}`)
  const looks = asked.filter((one) => one === `GET /api/v1/accounts/1/conversations/${conversation}`)
  assert.deepEqual([looks.length, typingRequests(world).length, asked.length], [1, 7, 8], asked.join('\n'))
})

test('while the helpdesk does not answer about typing, messages of all customers still arrive', async () => {
  await using world = await AgentWorld.open()
  await watched(world)
  const people = Array.from({ length: 24 }, (_, n) =>
    world.network.person({ phone: `55118888810${String(n).padStart(2, '0')}`, pushName: `Customer ${n}` }),
  )
  await Promise.all(people.map((person) => opened(world, person)))
  await world.helpdesk.fault({ kind: 'slow', ms: 60_000, path: /toggle_typing/ })
  for (const person of people) {
    deviceOf(world).subscribe(person.user)
    person.typing(world.phone)
  }
  await world.helpdesk.waitForHeldRequests(4)
  await Promise.all(people.map((person) => opened(world, person)))
  // Messages that wait for a connection of these requests would come when the requests are given up, after 15 s.
  await world.helpdesk.waitForHeldRequests(4, 0)
})

test('a chat that is not bridged is neither subscribed to nor shown', async () => {
  const environment = { SERVICE_IGNORE_JIDS: '5511888880002@*', SERVICE_PRESENCE: 'online' }
  await using world = await AgentWorld.open({ environment })
  const eve = world.network.person({ phone: '5511888880002', pushName: 'Eve' })
  eve.text(world.phone, 'let me in')
  const conversation = await opened(world)
  await waitUntil('the account is subscribed', () => deviceOf(world).subscriptions.has(world.bob.user))
  deviceOf(world).subscribe(eve.user)
  eve.typing(world.phone)
  world.bob.typing(world.phone)
  await shows(world, conversation, true)
  await counted(world, { ok: 1 })
  assert.deepEqual(subscriptionsOf(world), [world.bob.user.pnJid])
})

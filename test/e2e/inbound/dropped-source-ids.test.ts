// A Chatwoot before 3.4 drops the source ids of messages. Without them the service cannot find a message again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

test('a helpdesk that drops source ids is held at the first message, and takes the others after its update', async () => {
  const clock = new LeapingClock()
  await using world = await World.open({ clock, helpdesk: { version: '3.3' } })
  const { helpdesk, network, phone, service } = world
  const [maria, joao] = [network.person({ phone: '5511988887777' }), network.person({ phone: '5511988886666' })]
  maria.text(phone, 'first')
  await helpdesk.waitForMessage(undefined, ({ content }) => content === 'first', 60_000)
  const heldOf = async () => (await world.health()).checks.destinations_held
  await waitUntil('the destination is held', async () => (await heldOf()).length === 1, { instead: heldOf })
  assert.match((await heldOf())[0]?.reason ?? '', /older than Chatwoot 3\.4 .*: update it/)
  assert.equal((await world.health()).status, 'degraded')
  assert.equal(service.logs.withMessage('nothing can be delivered there; messages wait').length, 1)

  const second = maria.text(phone, 'second')
  const other = joao.text(phone, 'from another chat')
  await waitUntil('both messages wait', async () => (await world.health()).checks.inbox_pending === 2)
  // On a slow machine the inbox is also identified anew meanwhile, and that asks for the version too.
  const asked = () => helpdesk.requests.filter(({ path }) => path === '/api').length
  for (const probe of [1, 2]) {
    const before = asked()
    await clock.advance(30_000)
    await waitUntil(`probe ${probe} asks for the version`, () => asked() > before, {
      instead: () => helpdesk.requests.map(({ method, path }) => `${method} ${path}`),
    })
  }
  await waitUntil('the destination is held', async () => (await heldOf()).length === 1)
  assert.equal(helpdesk.messages().length, 1, 'nothing else was posted')

  helpdesk.configure({ version: '3.4' })
  await clock.advance(30_000)
  assert.equal((await world.arrived(second)).content, 'second')
  assert.equal((await world.arrived(other)).content, 'from another chat')
  await world.drained()
  assert.deepEqual(await heldOf(), [])
  assert.deepEqual(
    helpdesk
      .messages()
      .map(({ content }) => content)
      .toSorted(),
    ['first', 'from another chat', 'second'],
    'each message is there once',
  )
})

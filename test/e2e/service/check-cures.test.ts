// The cures of the checks are followed to the letter: the call that a cure names is made, and the check passes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkOf, checkSetup } from '../../harness/setup-report.ts'
import { SetupWorld } from '../../harness/setup-world.ts'

type Break = { name: string; what: string; breakIt: (world: SetupWorld, inboxId: number) => Promise<unknown> }

const addressed = (address: (world: SetupWorld) => string) => (world: SetupWorld, inboxId: number) =>
  world.desk.patch(`/inboxes/${inboxId}`, { channel: { webhook_url: address(world) } })

const breaks: Break[] = [
  { name: 'webhook_address', what: 'no address', breakIt: addressed(() => '') },
  { name: 'webhook_address', what: 'no URL', breakIt: addressed(() => 'not a url') },
  { name: 'webhook_address', what: 'a blank at the end', breakIt: addressed((world) => `${world.webhookOf('shop')} `) },
  { name: 'webhook_address', what: 'another program', breakIt: addressed(() => 'https://other.example/hook') },
  {
    name: 'webhook_address',
    what: 'an old host',
    breakIt: addressed((world) => world.webhookOf('shop', 'https://old.example')),
  },
  { name: 'webhook_address', what: 'an unknown instance', breakIt: addressed((world) => world.webhookOf('nobody')) },
  {
    name: 'webhook_address',
    what: 'an instance with another inbox',
    breakIt: addressed((world) => world.webhookOf('other')),
  },
  {
    name: 'webhook_secret',
    what: 'a new secret',
    breakIt: (world, id) => world.desk.post(`/inboxes/${id}/reset_secret`),
  },
  {
    name: 'conversation_mode',
    what: 'one conversation for each contact',
    breakIt: (world, id) => world.desk.patch(`/inboxes/${id}`, { lock_to_single_conversation: true }),
  },
]

/** Makes the first call that the cure names. */
async function follow(world: SetupWorld, cure: string | null): Promise<void> {
  const [, instance = '', body] = /POST \/api\/instances\/([\w.-]+)\/inbox(?: with (\{[^}]*\}))?/.exec(cure ?? '') ?? []
  assert.ok(instance, `no call in: ${cure}`)
  await world.setUp(instance, body === undefined ? undefined : (JSON.parse(body) as object))
}

test('the set-up call cures a missing inbox, each wrong address, an unknown secret and a wrong mode', async () => {
  await using world = await SetupWorld.open()
  await world.create({ name: 'shop' })
  await world.create({ name: 'other', inbox_id: 99 })
  const check = async (name: string) => checkOf(await checkSetup(world.service, 'shop'), name)
  const missing = await check('helpdesk_configured')
  assert.equal(missing.result, 'broken')
  await follow(world, missing.cure)
  assert.equal((await check('helpdesk_configured')).result, 'ok')
  const inboxId = await world.inboxIdOf('shop')
  for (const { name, what, breakIt } of breaks) {
    assert.equal((await check(name)).result, 'ok', `before ${what}`)
    await breakIt(world, inboxId)
    const { ok, cure } = await check(name)
    assert.equal(ok, false, what)
    await follow(world, cure)
    assert.deepEqual(await check(name).then(({ result }) => result), 'ok', `after the cure of ${what}`)
  }
  assert.equal(checkOf(await checkSetup(world.service, 'shop', 'POST'), 'round_trip').result, 'ok')
})

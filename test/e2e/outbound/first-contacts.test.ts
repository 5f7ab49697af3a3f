// First messages to people who never wrote, from accounts that have moved to LIDs and from accounts that have not.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { child, children } from '../../../sim/network/wire/stanza.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { engines } from '../../harness/databases.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { signatureOf } from '../../harness/signed-callback.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const strikes = 'service_lifecycle_events_total{instance="n0",event="strike",owner_tag=""}'
const toPeople = new Set(['s.whatsapp.net', 'lid'])

/** The addresses of the messages that left for people, in order. */
function left({ network, phone }: AgentWorld): string[] {
  const stanzas = network.log.find({ account: phone.user.phone, tag: 'message' })
  const addresses = stanzas.filter(({ direction }) => direction === 'in').map(({ node }) => node.attrs.to ?? '')
  return addresses.filter((to) => toPeople.has(to.split('@')[1] ?? ''))
}

/** A callback for a message to a stranger, in a conversation that an agent began. */
const offerTo = (world: AgentWorld, { user }: SimPerson, id: number, text: string) =>
  world.callback(id, text, {
    conversation: { id, inbox_id: 1, meta: { sender: { phone_number: `+${user.phone}` } } },
  })

const strangerOf = ({ network }: AgentWorld, n = 2) =>
  network.person({ phone: `551188888000${n}`, lid: `20000000000000${n}`, pushName: `Stranger ${n}` })

for (const engine of drawnEngines(import.meta.url)) {
  describe(`a first message on ${engine}`, () => {
    test('from a migrated account arrives once, and the chat goes on', async () => {
      await using world = await AgentWorld.open({ engine, network: { isMigrated: true } })
      const { bob, phone } = world
      const first = await world.write('first')
      await world.received('first')
      await world.shown(first, ({ status }) => status !== 'failed')
      const { conversationId } = await world.arrived(bob.text(phone, 'an answer'))
      assert.equal(conversationId, world.conversation)
      await world.write('second')
      await world.received('second')
      const eve = strangerOf(world)
      assert.equal((await world.post(offerTo(world, eve, 9001, 'to the next'))).status, 200)
      await world.received('to the next', eve)
      const { lidJid, pnJid } = bob.user
      assert.deepEqual(left(world), [pnJid, lidJid, lidJid, eve.user.lidJid])
      assert.deepEqual([world.texts(), world.texts(eve)], [['first', 'second'], ['to the next']])
      assert.equal(bob.duplicates + bob.undecryptable.length, 0)
      assert.equal(await world.metric(strikes), 0)
    })

    test('from an account that is not migrated goes to the phone number at once', async () => {
      await using world = await AgentWorld.open({ engine, network: { isMigrated: false } })
      const { bob, phone } = world
      await world.write('first')
      await world.received('first')
      await world.arrived(bob.text(phone, 'an answer'))
      await world.write('second')
      await world.received('second')
      assert.deepEqual(left(world), [bob.user.pnJid, bob.user.pnJid])
      assert.deepEqual(world.texts(), ['first', 'second'])
    })
  })
}

test('an account that migrates while it runs writes to LIDs from then on, also after a restart', async () => {
  await using world = await AgentWorld.open({ network: { isMigrated: false } })
  const { bob, phone } = world
  await world.write('before')
  await world.received('before')
  const [eve, carol] = [strangerOf(world), strangerOf(world, 3)]
  phone.migrate([eve])
  await waitUntil('the phone’s message is confirmed', () => phone.companion.books.size === 0)
  assert.equal((await world.post(offerTo(world, eve, 9001, 'to Eve'))).status, 200)
  await world.restart()
  assert.equal((await world.post(offerTo(world, carol, 9002, 'to Carol'))).status, 200)
  await world.write('after')
  await world.received('after')
  assert.deepEqual(left(world), [bob.user.pnJid, eve.user.lidJid, carol.user.lidJid, bob.user.lidJid])
  assert.deepEqual(
    [world.texts(), world.texts(eve), world.texts(carol)],
    [['before', 'after'], ['to Eve'], ['to Carol']],
  )
})

test('an account that was paired as migrated writes to LIDs at once', async () => {
  await using world = await AgentWorld.open({ accounts: 0, network: { isMigrated: true } })
  const phone = await world.pair('n0')
  assert.equal((await world.post(world.callback(1, 'first'))).status, 200)
  await world.received('first')
  const stanzas = world.network.log.find({ account: phone.user.phone, tag: 'message' })
  const to = stanzas.filter(({ direction, node }) => direction === 'in' && node.attrs.category !== 'peer')
  assert.deepEqual(
    to.map(({ node }) => [node.attrs.to, node.attrs.peer_recipient_pn]),
    [[world.bob.user.lidJid, world.bob.user.pnJid]],
  )
})

test('463 at both addresses without a restriction: the message fails, and the next stranger is written to', async () => {
  await using world = await AgentWorld.open()
  const [eve, carol] = [strangerOf(world), strangerOf(world, 3)]
  world.network.fault({ kind: 'ack_error', code: 463, times: 2 })
  const refused = await world.post(offerTo(world, eve, 9001, 'offer'))
  assert.equal(refused.status, 500)
  assert.match((refused.body as { error: string }).error, /did not take a first message .*463/)
  assert.equal((await world.post(offerTo(world, carol, 9002, 'offer'))).status, 200)
  assert.deepEqual([world.texts(eve), world.texts(carol)], [[], ['offer']])
  assert.equal(await world.metric(strikes), 0)
})

test('479 and 421: the message is sent again once and arrives once', async () => {
  await using world = await AgentWorld.open()
  const { bob, network, phone } = world
  network.fault({ kind: 'ack_error', code: 479 })
  await world.write('to Bob')
  await world.received('to Bob')
  const group = network.group('Team', bob, [phone], 'pn')
  const { conversationId } = await world.arrived(bob.text(group, 'hello all'))
  await world.write('by number', {}, conversationId)
  await world.received('by number')
  group.addressing = 'lid'
  const id = await world.write('by LID', {}, conversationId)
  await world.received('by LID')
  await world.shown(id, ({ status }) => status !== 'failed')
  const inGroup = network.log.find({ account: phone.user.phone, tag: 'message' })
  const modes = inGroup.filter(({ direction, node }) => direction === 'in' && node.attrs.to === group.jid)
  assert.deepEqual(
    modes.map(({ node }) => node.attrs.addressing_mode),
    ['pn', 'pn', 'lid'],
  )
  assert.deepEqual(world.texts(), ['to Bob', 'by number', 'by LID'])
  assert.equal(bob.duplicates + bob.undecryptable.length, 0)
})

for (const engine of engines) {
  test(`a process that is killed between the refusal and the second try sends the message once, on ${engine}`, async () => {
    await using world = await AgentWorld.open({ engine, network: { isMigrated: true } })
    await world.stop()
    const { network, bob, environment, helpdesk } = world
    let isStanding = false
    // The second try stands still: it needs the devices of Bob's LID.
    const release = network.router.override('usync get usync', ({ content }) => {
      const users = children(child(content, 'list'), 'user').map(({ attrs }) => attrs.jid)
      isStanding ||= users.includes(bob.user.lidJid)
      return users.includes(bob.user.lidJid) ? 'silence' : null
    })
    const body = JSON.stringify(world.callback(1, 'first'))
    const headers = signatureOf(body, helpdesk.facts.webhook_secret)
    {
      await using dying = new ServiceProcess(environment)
      await dying.ready()
      dying.request('POST', '/api/instances/n0/webhook', { body, headers }).catch(() => undefined)
      await waitUntil('the second try has begun', () => isStanding)
      dying.send('SIGKILL')
      await dying.exited()
    }
    assert.deepEqual([left(world), bob.messages.length], [[bob.user.pnJid], 0])
    release()
    await using living = new ServiceProcess(environment)
    await living.ready()
    await world.received('first')
    const repeated = await living.request('POST', '/api/instances/n0/webhook', { body, headers })
    assert.ok(repeated.status < 300, repeated.text)
    assert.deepEqual([world.texts(), bob.duplicates], [['first'], 0])
    assert.deepEqual(left(world), [bob.user.pnJid, bob.user.pnJid, bob.user.lidJid])
  })
}

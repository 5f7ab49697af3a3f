import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SimGroup } from '../../../sim/network/groups/sim-group.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { World } from '../../harness/world.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'

describe('groups', () => {
  let world: World
  let maria: SimPerson
  let carlos: SimPerson
  let group: SimGroup
  before(async () => {
    world = await World.open({ environment: { SERVICE_GROUP_EVENTS_ENABLED: 'true' } })
    maria = world.network.person({ phone: '5511988887777', pushName: 'Maria `the\nfirst`' })
    carlos = world.network.person({ phone: '5511966665555', pushName: 'Carlos', hidesPhone: true })
    group = world.network.group('Team Ação', maria, [carlos, world.phone])
  })
  after(() => world[Symbol.asyncDispose]())

  test('a message starts with who wrote it; the contact is named by the subject', async () => {
    const message = await world.arrived(maria.text(group, 'hello all'))
    assert.equal(message.content, '`+5511988887777 · ~Maria  the first `\n\nhello all')
    const contact = world.helpdesk.see.contacts().find(({ id }) => id === message.sender?.id)
    assert.equal(contact?.name, 'Team Ação')
    assert.equal(contact.identifier, group.jid)
    assert.equal(contact.phoneNumber, null)
    assert.deepEqual(contact.addresses, [{ inboxId: 1, sourceId: `group-${group.jid.split('@')[0]}` }])
  })

  test('header, quote, text', async () => {
    const first = maria.text(group, 'first')
    await world.arrived(first)
    const [received] = carlos.messages.entries.filter(({ id }) => id === first.id)
    assert.ok(received)
    const message = await world.arrived(carlos.text(group, 'second', { quote: received }))
    const [header, blank, quote, quoted, , text] = (message.content ?? '').split('\n')
    assert.match(header ?? '', /^`.+ · ~Carlos`$/)
    assert.equal(blank, '')
    assert.equal(quote, '> `↪ +5511988887777 · ~Maria  the first `')
    assert.deepEqual([quoted, text], ['> first', 'second'])
    assert.ok(!(message.content ?? '').includes('5511966665555'), 'a hidden number is not told')
  })

  test('a caption has the header too', async () => {
    const sent = maria.media(group, 'image', { bytes: Buffer.from('x'), caption: 'see' })
    assert.equal((await world.arrived(sent)).content, '`+5511988887777 · ~Maria  the first `\n\nsee')
    const bare = maria.media(group, 'image', { bytes: Buffer.from('x') })
    assert.equal((await world.arrived(bare)).content, '`+5511988887777 · ~Maria  the first `')
  })

  test('mentions are names', async () => {
    const lid = carlos.user.lidJid.split('@')[0] ?? ''
    const sent = maria.text(group, `@${lid} and @${lid}9, look`, { mentions: [carlos] })
    assert.match((await world.arrived(sent)).content ?? '', new RegExp(`@Carlos and @${lid}9, look$`))
  })

  test('what the owner writes has no header', async () => {
    const message = await world.arrived(world.phone.text(group, 'from the phone'))
    assert.deepEqual([message.content, message.messageType], ['from the phone', 'outgoing'])
  })

  test('a change is an activity, and a new subject renames the contact', async () => {
    group.setSubject(maria.user, 'Team <b>')
    const activity = await world.helpdesk.waitForMessage(undefined, ({ content }) =>
      (content ?? '').includes('changed the group name'),
    )
    assert.equal(activity.messageType, 'activity')
    assert.equal(activity.content, 'Maria  the first  changed the group name to &quot;Team &lt;b&gt;&quot;')
    await waitUntil('the contact is renamed', () =>
      world.helpdesk.see.contacts().some(({ name }) => name === 'Team <b>'),
    )
  })

  test('everything went into one conversation', async () => {
    await world.drained()
    assert.equal(world.helpdesk.see.conversations().length, 1)
    world.helpdesk.assertNothingRefused()
  })
})

test('with SERVICE_GROUP_HEADER_TTL a header comes with another sender, and again when its time is over', async () => {
  const clock = new LeapingClock()
  const environment = { SERVICE_GROUP_HEADER_TTL: '10m' }
  await using world = await World.open({ clock, helpdesk: { clock }, environment })
  const maria = world.network.person({ phone: '5511988887777', pushName: 'Maria' })
  const carlos = world.network.person({ phone: '5511966665555', pushName: 'Carlos' })
  const group = world.network.group('Team', maria, [carlos, world.phone])
  const said = async (sent: { id: string }) => (await world.arrived(sent)).content
  const minutes = async (count: number) => {
    await clock.advance(count * 60_000, async () => {
      await world.health()
    })
  }
  const head = (number: string, name: string) => `\`+${number} · ~${name}\`\n\n`
  assert.equal(await said(maria.text(group, 'one')), `${head('5511988887777', 'Maria')}one`)
  assert.equal(await said(maria.text(group, 'two')), 'two')
  assert.equal(await said(carlos.text(group, 'three')), `${head('5511966665555', 'Carlos')}three`)
  assert.equal(await said(maria.text(group, 'four')), `${head('5511988887777', 'Maria')}four`)
  await minutes(6)
  assert.equal(await said(maria.text(group, 'five')), 'five')
  await minutes(6)
  // The time of the header counts, not that of the message after it.
  assert.equal(await said(maria.text(group, 'six')), `${head('5511988887777', 'Maria')}six`)
  assert.equal(await said(world.phone.text(group, 'from the phone')), 'from the phone')
  assert.equal(await said(maria.text(group, 'seven')), `${head('5511988887777', 'Maria')}seven`)
})

describe('conversations', () => {
  for (const mode of ['new', 'reopen'] as const) {
    test(`after a resolved one, mode ${mode}`, async () => {
      await using world = await World.open({ environment: { SERVICE_CONVERSATION_MODE: mode } })
      const maria = world.network.person({ phone: '5511988887777' })
      const first = await world.arrived(maria.text(world.phone, 'one'))
      const { facts } = world.helpdesk
      await fetch(`${facts.url}/api/v1/accounts/1/conversations/${first.conversationId}/toggle_status`, {
        method: 'POST',
        headers: { 'Api-Access-Token': facts.api_token, 'content-type': 'application/json' },
        body: JSON.stringify({ status: 'resolved' }),
      })
      await world.restart()
      const second = await world.arrived(maria.text(world.phone, 'two'))
      assert.equal(second.conversationId === first.conversationId, mode === 'reopen')
    })
  }

  test('a deleted one is made anew', async () => {
    await using world = await World.open()
    const maria = world.network.person({ phone: '5511988887777' })
    const first = await world.arrived(maria.text(world.phone, 'one'))
    world.helpdesk.world.deleteConversation(first.conversationId)
    const second = await world.arrived(maria.text(world.phone, 'two'))
    assert.notEqual(second.conversationId, first.conversationId)
    await world.drained()
    assert.equal((await world.health()).status, 'ok')
  })
})

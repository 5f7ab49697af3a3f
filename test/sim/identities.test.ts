// Checks identities with the real client: people met by LID only, numbers learnt later, and unreadable messages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { child, children, type Stanza } from '../../sim/network/wire/stanza.ts'
import { Stage } from './harness/stage.ts'

test('a person who writes by LID with a hidden number is known by number once the number shows', async () => {
  await using stage = await Stage.open({ addressing: 'lid' })
  const { network, phone, client } = stage
  const shy = network.person({ phone: '5511888880009', pushName: 'Shy', hidesPhone: true })
  shy.text(phone, 'guess who')
  const hidden = await client.textMessage('guess who')
  assert.equal(hidden.key.remoteJid, shy.user.lidJid)
  assert.equal(hidden.key.remoteJidAlt, undefined)
  await client.socket.sendMessage(shy.user.lidJid, { text: 'who are you?' })
  await shy.messages.waitFor('the answer', (one) => one.from === phone.user)
  phone.text(shy, 'from the phone')
  assert.equal((await client.textMessage('from the phone')).key.remoteJidAlt, undefined)
  shy.user.hidesPhone = false
  shy.text(phone, 'it is me')
  const shown = await client.textMessage('it is me')
  assert.deepEqual([shown.key.remoteJid, shown.key.remoteJidAlt], [shy.user.lidJid, shy.user.pnJid])
})

test('a group shows only the beginning and the end of a hidden number', async () => {
  await using stage = await Stage.open()
  const { network, phone, bob, client } = stage
  const shy = network.person({ phone: '5511888880009', pushName: 'Shy', hidesPhone: true })
  const group = network.group('Team', bob, [phone, shy])
  const answer: unknown = await client.socket.query({
    tag: 'iq',
    attrs: { type: 'get', xmlns: 'w:g2', to: group.jid },
    content: [{ tag: 'query', attrs: { request: 'interactive' } }],
  })
  const members = children(child(answer as Stanza, 'group'), 'participant')
  const shown = members.find((one) => one.attrs['jid'] === shy.user.lidJid)
  assert.equal(shown?.attrs['display_name'], '+55∙∙∙∙∙∙∙∙∙09')
  assert.equal(shown.attrs['phone_number'], undefined)
  assert.equal(members.find((one) => one.attrs['jid'] === bob.user.lidJid)?.attrs['phone_number'], bob.user.pnJid)
})

test('an administrator revokes the message of another member', async () => {
  await using stage = await Stage.open()
  const { network, phone, bob, client } = stage
  const eve = network.person({ phone: '5511888880002', pushName: 'Eve' })
  const group = network.group('Team', bob, [phone, eve])
  const rude = eve.text(group, 'something rude')
  await client.textMessage('something rude')
  bob.revoke(await bob.messages.waitFor('the rude message', (one) => one.id === rude.id))
  await client.event('messages.update', 'the revoke', (all) =>
    all.some((one) => one.key.id === rude.id && one.update.message === null),
  )
  const marks = network.log.find({ tag: 'message' }).map((one) => one.attrs['edit'])
  assert.ok(marks.includes('8'))
})

test('an undecryptable message stays unreadable when its sender does not send it again', async () => {
  await using stage = await Stage.open()
  const { network, phone, bob, client } = stage
  bob.answersRetries = false
  network.fault({ kind: 'undecryptable' })
  const lost = bob.text(phone, 'unreadable')
  const asked = (one: { id: string; type: string }): boolean => one.id === lost.id && one.type === 'retry'
  await bob.receipts.waitFor('the request to send again', asked)
  bob.text(phone, 'readable')
  await client.textMessage('readable')
  assert.deepEqual(
    client
      .messages()
      .flatMap((one) => (one.key.id === lost.id ? [one.message] : []))
      .filter(Boolean),
    [],
  )
})

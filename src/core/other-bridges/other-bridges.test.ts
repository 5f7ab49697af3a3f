import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BridgeContact } from './bridge-contact.ts'
import { formsOf, otherBridges, recogniseAny } from './other-bridges.ts'

const contact = (fields: Partial<BridgeContact>): BridgeContact => ({
  ...{ name: 'Maria', identifier: null, phone: null, attributes: {}, sourceIds: [] },
  ...fields,
})
const person = (phone: string | null, lid: string | null = null, isMarked = true) => ({
  ...{ kind: 'chat', chat: { kind: 'person', phone, lid }, isMarked },
})
const group = { kind: 'chat', chat: { kind: 'group', id: '120363000000000001' }, isMarked: true }

const { evolution, waha, gowa } = formsOf

test('Evolution API: the identifier is the address, as the network spells it', () => {
  const jid = '551188880001@s.whatsapp.net'
  assert.deepEqual(evolution.recognise(contact({ identifier: jid, phone: '+5511988880001' })), person('551188880001'))
  assert.deepEqual(evolution.recognise(contact({ identifier: '120363000000000001@g.us' })), group)
})

test('Evolution API: the phone number of an anonymous id is no phone number', () => {
  const found = evolution.recognise(contact({ identifier: '200000000000001@lid', phone: '+200000000000001' }))
  assert.deepEqual(found, person(null, '200000000000001'))
})

test('WAHA: the attributes name the phone number and the anonymous id of one person', () => {
  const attributes = {
    waha_whatsapp_chat_id: '200000000000001@lid',
    waha_whatsapp_jid: '5511988880001@c.us',
    waha_whatsapp_lid: '200000000000001@lid',
  }
  const found = waha.recognise(contact({ phone: '+5511988880001', attributes }))
  assert.deepEqual(found, person('5511988880001', '200000000000001'))
  const anonymous = contact({ identifier: '200000000000001@lid', attributes: {} })
  assert.deepEqual(waha.recognise(anonymous), person(null, '200000000000001'))
})

test('WAHA: a group has its address in the identifier and in an attribute', () => {
  const address = '120363000000000001@g.us'
  assert.deepEqual(waha.recognise(contact({ attributes: { waha_whatsapp_chat_id: address } })), group)
  assert.deepEqual(waha.recognise(contact({ identifier: address })), group)
})

test('WAHA: channels, the status and broadcast lists are no chats', () => {
  for (const address of ['status@broadcast', '120363000000000009@newsletter', '1700000000@broadcast']) {
    const attributes = { waha_whatsapp_chat_id: address }
    assert.deepEqual(waha.recognise(contact({ identifier: address, attributes })), { kind: 'other' })
  }
})

test('gowa: the attribute holds the digits or the address, in the spelling of two versions', () => {
  const phone = '+628123456789'
  for (const key of ['gowa_whatsapp_jid', 'waha_whatsapp_jid']) {
    for (const address of ['628123456789', '628123456789@s.whatsapp.net']) {
      assert.deepEqual(gowa.recognise(contact({ phone, attributes: { [key]: address } })), person('628123456789'))
    }
    const attributes = { [key]: '120363000000000001@g.us' }
    assert.deepEqual(gowa.recognise(contact({ attributes })), group)
  }
})

test('gowa: the address in the helpdesk inbox names a person whose attributes were removed', () => {
  const sourceIds = ['628123456789@s.whatsapp.net', '00000000-0000-4000-8000-000000000001']
  assert.deepEqual(gowa.recognise(contact({ phone: '+628123456780', sourceIds })), person('628123456789'))
  assert.deepEqual(
    gowa.recognise(contact({ phone: '+628123456780', sourceIds: ['628123456789'] })),
    person('628123456780', null, false),
  )
})

test('a contact with nothing but a phone number is recognised, but not by a mark of the bridge', () => {
  for (const bridge of otherBridges) {
    const found = formsOf[bridge].recognise(contact({ phone: '+5511988880001' }))
    assert.deepEqual(found, person('5511988880001', null, false), bridge)
  }
})

test('the contacts of the bridges themselves are recognised', () => {
  const attributes = { waha_whatsapp_chat_id: 'whatsapp.integration' }
  assert.deepEqual(evolution.recognise(contact({ phone: '+123456' })), { kind: 'own' })
  assert.deepEqual(waha.recognise(contact({ identifier: 'whatsapp.integration' })), { kind: 'own' })
  assert.deepEqual(waha.recognise(contact({ attributes })), { kind: 'own' })
  assert.deepEqual(recogniseAny(contact({ phone: '+123456' })), { kind: 'own' })
})

test('junk in a contact is no chat', () => {
  const junk = [
    contact({}),
    contact({ identifier: 'customer-17' }),
    contact({ identifier: 'someone@example.com', phone: '+5511988880001' }),
    contact({ phone: '+12' }),
    contact({ attributes: { waha_whatsapp_chat_id: 7, gowa_whatsapp_jid: { a: 1 }, waha_whatsapp_jid: null } }),
    contact({ attributes: { gowa_whatsapp_jid: 'x'.repeat(100_000) } }),
  ]
  for (const each of junk)
    for (const bridge of otherBridges) {
      assert.equal(formsOf[bridge].recognise(each).kind, 'other', `${bridge} ${String(each.identifier)}`)
    }
})

test('a mark counts more than a phone number, whichever bridge made it', () => {
  const marked = contact({ phone: '+5511988880001', attributes: { gowa_whatsapp_jid: '551188880001' } })
  assert.deepEqual(recogniseAny(marked), person('551188880001'))
})

test('the source id of a message carries the id of the network', () => {
  assert.equal(evolution.messageIdOf('WAID:3EB0C431D26A1916E07E'), '3EB0C431D26A1916E07E')
  assert.equal(gowa.messageIdOf('WAID:3EB0C431D26A1916E07E'), '3EB0C431D26A1916E07E')
  assert.equal(waha.messageIdOf('WAID:3EB0C431D26A1916E07E'), null)
  for (const foreign of ['3EB0C431D26A1916E07E', 'WAID:', 'WAID:a b', `WAID:${'A'.repeat(129)}`]) {
    assert.equal(evolution.messageIdOf(foreign), null, foreign)
  }
})

test('a name that is only an address was not chosen by a person', () => {
  const chat = { kind: 'person', phone: '5511988880001', lid: null } as const
  for (const name of ['5511988880001', '+5511988880001', '5511988880001@c.us', ' 5511988880001@s.whatsapp.net']) {
    for (const bridge of otherBridges) assert.ok(formsOf[bridge].isOwnName(name, chat), `${bridge} ${name}`)
  }
  for (const name of ['Maria', '551188880001', '']) {
    for (const bridge of otherBridges) assert.ok(!formsOf[bridge].isOwnName(name, chat), `${bridge} ${name}`)
  }
})

test('each bridge marks the names of groups in its own way', () => {
  const chat = { kind: 'group', id: '120363000000000001' } as const
  assert.ok(evolution.isOwnName('Family (GROUP)', chat))
  assert.ok(!evolution.isOwnName('Family', chat))
  const ofWaha = ['Family (Group)', 'Família (Grupo)', 'Familie (Team) (Gruppe)', 'Семья (Группа)', 'عائلة (مجموعة)']
  for (const name of [...ofWaha, '家庭 (群组)', '120363000000000001@g.us']) assert.ok(waha.isOwnName(name, chat), name)
  for (const name of ['Family', 'Family (VIP)', 'Family(Group)', '(Group) Family', 'Family (Group']) {
    assert.ok(!waha.isOwnName(name, chat), name)
  }
  assert.ok(gowa.isOwnName('Family', chat))
})

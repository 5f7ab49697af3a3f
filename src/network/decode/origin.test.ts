import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chatNameOf } from './origin.ts'

const [phone, lid] = ['5511888880001@s.whatsapp.net', '77@lid']
const nameOf = (attrs: Record<string, string>) => chatNameOf({ tag: 'message', attrs })

test('messages of one chat have one name, from any device, from the owner, and under either address', () => {
  const names = [
    { from: lid },
    { from: '77:5@lid' },
    { from: lid, sender_pn: phone },
    { from: phone, sender_lid: lid },
    { from: '5511888880001:3@s.whatsapp.net', sender_lid: '77:3@lid' },
    { from: '5511999990000@s.whatsapp.net', recipient: lid },
    { from: '5511999990000@s.whatsapp.net', recipient: phone, recipient_lid: lid },
  ].map(nameOf)
  assert.deepEqual(new Set(names), new Set([lid]))
  assert.equal(nameOf({ from: '5511888880001:3@s.whatsapp.net' }), phone)
})

test('a group has its own name for every author', () => {
  const group = '120363000000000001@g.us'
  assert.equal(nameOf({ from: group, participant: phone, participant_lid: lid }), group)
  assert.equal(nameOf({ from: 'status@broadcast' }), 'status@broadcast')
})

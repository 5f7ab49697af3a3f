import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BridgeError } from '../../core/errors.ts'
import { readMemberAddress, readMemberAddresses } from './member-addresses.ts'

test('a person is named by jid or by phone number in any spelling', () => {
  const address = '5511888880001@s.whatsapp.net'
  for (const text of [
    address,
    '5511888880001@c.us',
    '5511888880001:7@s.whatsapp.net',
    ' 5511888880001@s.whatsapp.net ',
    '5511888880001',
    '+5511888880001',
    '+55 (11) 88888-0001',
    '0055 11 88888.0001',
    '+55 11/88888/0001',
  ]) {
    assert.equal(readMemberAddress(text), address, text)
  }
  assert.equal(readMemberAddress('200000000000001@lid'), '200000000000001@lid')
})

test('a text that names no person is refused', () => {
  for (const text of [
    '',
    '1234',
    '011 88888 0001',
    '+0055 11 88888 0001',
    'Maria',
    '5511888880001@g.us',
    '120363000000000001@g.us',
    '5511888880001-1600000000@g.us',
    '5511888880001-1@s.whatsapp.net',
    'status@broadcast',
    '120363000000000001@newsletter',
    '5511888880001@s.whatsapp.net.example',
    '++5511888880001',
    '5511888880001;drop',
    '1'.repeat(16),
  ]) {
    assert.equal(readMemberAddress(text), undefined, text)
  }
})

test('each person counts once, and the error names the place of a text that names no person', () => {
  const texts = ['+55 11 88888-0001', '5511888880002', '5511888880001@s.whatsapp.net']
  assert.deepEqual(readMemberAddresses(texts, 'jids'), ['5511888880001@s.whatsapp.net', '5511888880002@s.whatsapp.net'])
  assert.throws(
    () => readMemberAddresses([...texts, 'Maria'], 'jids'),
    (error) =>
      error instanceof BridgeError &&
      error.code === 'SERVICE_BAD_REQUEST' &&
      error.message.startsWith('jids.3 is not the address of a person'),
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BinaryNode } from '../library/library.ts'
import { receiptsOf } from './receipt.ts'

const own = { phone: '5511900000000', lid: '900' }
const bob = { kind: 'person' as const, phone: '5511888880001', lid: null }
const group = { kind: 'group' as const, id: '120363' }

function read(attrs: Record<string, string>, content?: BinaryNode[]) {
  const stanza = { tag: 'receipt', attrs: { id: 'A', t: '5', ...attrs }, ...(content && { content }) }
  return receiptsOf(stanza, { own, now: () => 0 })
}

function only(attrs: Record<string, string>) {
  const [receipt, ...more] = read(attrs) ?? []
  assert.equal(more.length, 0)
  return receipt
}

test('the types of the network have names of their own', () => {
  const from = '5511888880001:3@s.whatsapp.net'
  const typeOf = (type?: string) => only({ from, ...(type !== undefined && { type }) })?.type
  assert.deepEqual([undefined, 'inactive', 'read', 'played', 'server-error', 'played-self'].map(typeOf), [
    'delivered',
    'delivered',
    'read',
    'played',
    'other',
    'other',
  ])
  assert.deepEqual(only({ from, type: 'read' }), {
    ...{ type: 'read', chat: bob, from: { phone: '5511888880001', lid: null }, ids: ['A'], at: 5000 },
  })
})

test('a request to send a message again is no receipt', () => {
  assert.equal(read({ from: '5511888880001@s.whatsapp.net', type: 'retry' }), undefined)
})

test('a receipt of a status, a channel or a broadcast list belongs to no chat', () => {
  for (const from of ['status@broadcast', '123@newsletter', '123@broadcast', ''])
    assert.equal(read({ from }), undefined)
})

test('what another device of the owner got or read is not read by the recipient', () => {
  const recipient = '5511888880001@s.whatsapp.net'
  for (const type of ['read', 'sender', 'played']) {
    const receipt = only({ from: '5511900000000:2@s.whatsapp.net', recipient, type })
    assert.deepEqual([receipt?.type, receipt?.chat], ['other', bob])
  }
  const inGroup = only({ from: '120363@g.us', participant: '900@lid', type: 'read' })
  assert.deepEqual([inGroup?.type, inGroup?.chat], ['other', group])
})

test('a chat that the owner has read on the phone is named by the recipient', () => {
  const attrs = {
    from: '900@lid',
    recipient: '77@lid',
    recipient_pn: '5511888880001@s.whatsapp.net',
    type: 'read-self',
  }
  const receipt = only(attrs)
  assert.deepEqual([receipt?.type, receipt?.chat], ['read_self', { ...bob, lid: '77' }])
  const inGroup = only({ from: '120363@g.us', participant: '900@lid', type: 'read-self' })
  assert.deepEqual([inGroup?.type, inGroup?.chat], ['read_self', group])
})

test('a receipt can be about many messages', () => {
  const items = ['B', 'C', 'B', 'A'].map((id) => ({ tag: 'item', attrs: { id } }))
  const found = read({ from: '77@lid', type: 'read' }, [{ tag: 'list', attrs: {}, content: items }])
  assert.deepEqual(
    found?.map(({ ids }) => ids),
    [['A', 'B', 'C']],
  )
})

test('the network can collect the receipts of many members of a group', () => {
  const users = ['5511888880001@s.whatsapp.net', '900@lid', 'junk'].map((jid) => ({
    tag: 'user',
    attrs: { jid, t: '7' },
  }))
  const lists = ['A', 'B'].map((key) => ({ tag: 'participants', attrs: { key }, content: users }))
  const found = read({ from: '120363@g.us', type: 'read' }, lists)
  assert.deepEqual(
    found?.map(({ type, ids, from, at }) => [type, ids[0], from?.phone ?? from?.lid, at]),
    [
      ['read', 'A', '5511888880001', 7000],
      ['other', 'A', '900', 7000],
      ['read', 'B', '5511888880001', 7000],
      ['other', 'B', '900', 7000],
    ],
  )
})

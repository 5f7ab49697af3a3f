// The attributes that describe a message outside of its seal.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proto } from '../library/library.ts'
import { labelsOf } from './stanza-labels.ts'

const { MESSAGE_EDIT, REVOKE } = proto.Message.ProtocolMessage.Type
const hide = { 'decrypt-fail': 'hide' }

test('only messages that change another one are hidden from devices that cannot open them', () => {
  const labels = [
    { reactionMessage: { text: '👍' } },
    { protocolMessage: { type: MESSAGE_EDIT } },
    { protocolMessage: { type: REVOKE, key: { fromMe: true } } },
    { protocolMessage: { type: REVOKE, key: { fromMe: false } } },
    { conversation: 'hello' },
  ].map(labelsOf)
  assert.deepEqual(
    labels.map(({ type, edit, sealed }) => [type, edit['edit'], sealed]),
    [
      ['reaction', undefined, hide],
      ['text', '1', hide],
      ['text', '7', hide],
      ['text', '8', hide],
      ['text', undefined, {}],
    ],
  )
})

test('the kind of a file describes the message, but not the key that comes with it', () => {
  const { type, sealed, hidden } = labelsOf({ documentWithCaptionMessage: { message: { documentMessage: {} } } })
  assert.deepEqual([type, sealed, hidden], ['media', { mediatype: 'document' }, {}])
})

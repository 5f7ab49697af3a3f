import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeStanza } from './encode-stanza.ts'
import { encodeBinaryNode } from './library.ts'
import type { BinaryNode } from './library.ts'

const texts = ['message', 'text', 'America/Sao_Paulo', '3EB0A1', '5511-99.9', 'g7', 'é 1', '3eb0', '1'.repeat(127)]
const addresses = ['5511999990001:3@s.whatsapp.net', '12345@lid', '12345:7@lid', '1203630@g.us', '5511@hosted', '@g.us']

function assertSame(stanza: BinaryNode): void {
  assert.deepEqual(encodeStanza(stanza), encodeBinaryNode(stanza))
}

test('texts and addresses are written as the library writes them, also for the second time', () => {
  for (const text of [...texts, ...addresses, ...texts]) {
    assertSame({ tag: text, attrs: { [text]: text, id: text, empty: '' }, content: text })
  }
})

test('bytes and lists of every length are written as the library writes them', () => {
  for (const length of [0, 1, 255, 256, 65_536, 2 ** 20 - 1, 2 ** 20]) {
    assertSame({ tag: 'enc', attrs: { v: '2' }, content: Buffer.alloc(length, 7) })
  }
  for (const length of [0, 1, 255, 256, 1000]) {
    const to = { tag: 'to', attrs: { jid: '5511999990001:3@s.whatsapp.net' }, content: new Uint8Array([1, 2]) }
    assertSame({ tag: 'participants', attrs: {}, content: Array.from({ length }, () => to) })
  }
  assertSame({ tag: 'unavailable', attrs: {} })
})

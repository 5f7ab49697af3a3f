import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageEvent } from '../../core/message.ts'
import { cleaned, cleanId, cleanName } from './clean.ts'

const sender = { phone: '5511888880001', lid: null }
const event: MessageEvent = {
  kind: 'message',
  id: 'A\0B',
  at: 1,
  chat: { kind: 'person', ...sender },
  sender,
  fromMe: false,
  pushName: 'Ma\0ria',
  content: { type: 'text', text: 'he\0llo' },
  quote: { id: 'Q\0', sender: null, fromMe: false, text: 'o\0k' },
  mentions: [sender],
  ad: null,
  secret: null,
}

test('no zero character is left anywhere in an event', () => {
  assert.deepEqual(cleaned(event), {
    ...event,
    id: 'AB',
    pushName: 'Maria',
    content: { type: 'text', text: 'hello' },
    quote: { id: 'Q', sender: null, fromMe: false, text: 'ok' },
  })
})

test('an endless id becomes a short one, of its own; a name ends with a whole character', () => {
  const [one, two] = [cleanId(`${'x'.repeat(5000)}1`), cleanId(`${'x'.repeat(5000)}2`)]
  assert.equal(one.length, 64)
  assert.notEqual(one, two)
  assert.equal(cleanId('3EB0C767D26A8D6F4A'), '3EB0C767D26A8D6F4A')
  assert.equal(cleanName('👍'.repeat(300)), '👍'.repeat(255))
  const long = { ...event, pushName: 'y'.repeat(9000) }
  assert.equal(cleaned(long).pushName?.length, 255)
})

// Runs alone: it measures CPU time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Content } from '../../../core/message.ts'
import { cpuMsOf, cpuMsUntil } from '../../../../test/harness/linear-time.ts'
import { bodyOf } from './body-of.ts'
import { writeBody } from './write-body.ts'
import type { Body } from './write-body.ts'

const safeLength = 75_000
const noExtras = { ad: null, mentioned: [], mentionTemplate: '@$name', locale: 'en', safeLength } as const
const bodyWith = (text: string): Body => ({ content: { type: 'text', text }, ...noExtras })

test('the body of a long message is the same as that of a short one, piece by piece', async () => {
  const mentioned = [{ phone: '5511999', lid: null, pushName: 'Ana', savedName: null, redactedPhone: null }]
  const ad = { title: 'Sale', body: null, url: null }
  const piece = '*bold* @5511999 2*3'
  const short = await bodyOf({ ...bodyWith(piece), mentioned, ad })
  assert.equal(short, '**bold** @Ana 2*3\n\n📣 Came from an ad: Sale')
  const long = await bodyOf({ ...bodyWith(Array(500).fill(piece).join('\n\n')), mentioned, ad })
  assert.equal(long, `${Array(500).fill('**bold** @Ana 2*3').join('\n\n')}\n\n📣 Came from an ad: Sale`)
})

test('the longest text of WhatsApp takes little time of the event loop', async () => {
  const body = bodyWith('*_~'.repeat(21_845))
  // Starts the thread.
  const written = await bodyOf(body)
  const directMs = Math.min(...[1, 2, 3].map(() => cpuMsOf(() => writeBody(body), '')))
  const besideMs = await cpuMsUntil(() => bodyOf(body))
  assert.equal(written, writeBody(body))
  assert.ok(besideMs < directMs / 4, `${besideMs} ms of ${directMs} ms`)
})

test('a text that can never fit is cut before it is converted, and says so', () => {
  const text = 'a'.repeat(2 * safeLength + 1)
  const body = writeBody(bodyWith(text))
  assert.ok(body.length < safeLength)
  assert.match(body, /^a+\n\n\S/)
  assert.equal(writeBody(bodyWith(text.slice(1))), text.slice(1))
})

const huge = '*'.repeat(100_000)
const hugeContents: Content[] = [
  { type: 'text', text: huge },
  { type: 'location', latitude: 1, longitude: 2, name: huge, address: huge, caption: huge, live: false },
  { type: 'contacts', cards: Array(50).fill({ name: huge, phones: [huge, huge], organisation: huge }) },
  { type: 'contacts', cards: Array(100_000).fill({ name: '', phones: [], organisation: null }) },
  { type: 'poll', question: huge, options: Array(50).fill(huge) },
  { type: 'poll', question: 'q', options: Array(100_000).fill('') },
  { type: 'choice', text: huge, description: huge },
  { type: 'unsupported', name: huge, text: huge },
]

for (const content of hugeContents) {
  test(`of a huge message only as much is converted as may fit: ${content.type}`, () => {
    const ad = { title: huge, body: huge, url: huge }
    const body = writeBody({ ...noExtras, content, ad, safeLength: 3000 })
    // Each character may get a backslash, each line a mark.
    assert.ok(body.length < 20 * 3000, `${body.length} characters`)
  })
}

test('the huge name of a mentioned person is cut', () => {
  const ana = { phone: '5511999', lid: null, pushName: huge, savedName: huge, redactedPhone: null }
  const body = writeBody({ ...bodyWith('@5511999 '.repeat(10)), mentioned: [ana] })
  assert.ok(body.length < 10 * 2100, `${body.length} characters`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
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

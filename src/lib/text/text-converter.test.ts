import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shout } from '../../../test/harness/shout.ts'
import type { Shouted } from '../../../test/harness/shout.ts'
import { longText, TextConverter } from './text-converter.ts'

const long = longText + 1

function open() {
  let here = 0
  const convert = (input: Shouted) => {
    here++
    return shout(input)
  }
  const thread = new URL('../../../test/harness/shouting-thread.ts', import.meta.url)
  return { converter: new TextConverter<Shouted>({ convert, thread }), countHere: () => here }
}

/** How many turns the event loop makes while the work is done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work
  isOver = true
  return turns
}

test('a short text is converted at once, without a thread', async () => {
  const { converter, countHere } = open()
  assert.equal(await turnsDuring(converter.convert({ text: 'a' }, 1)), 0)
  assert.equal(countHere(), 1)
})

test('texts of a medium length leave turns of the event loop between them', async () => {
  const { converter, countHere } = open()
  const texts = Array.from({ length: 10 }, () => converter.convert({ text: 'a', workMs: 5 }, longText))
  // Two of them fill the slice of a turn.
  assert.ok((await turnsDuring(Promise.all(texts))) >= 4)
  assert.equal(countHere(), 10)
})

test('long texts are converted by a thread, and the event loop turns meanwhile', async () => {
  const { converter, countHere } = open()
  const inputs = ['a', 'b', 'c'].map((text) => ({ text, workMs: 100 }))
  const converted = Promise.all(inputs.map((input) => converter.convert(input, long)))
  assert.ok((await turnsDuring(converted)) > 20)
  assert.deepEqual(await converted, ['A', 'B', 'C'])
  assert.equal(countHere(), 0)
})

test('a text that cannot be converted fails alone', async () => {
  const { converter } = open()
  const failing = converter.convert({ text: 'a', then: 'fail' }, long)
  const next = converter.convert({ text: 'b' }, long)
  await assert.rejects(failing, /cannot be shouted/)
  assert.equal(await next, 'B')
})

test('a thread that ends fails its texts, and the next text gets another thread', async () => {
  const { converter } = open()
  await assert.rejects(converter.convert({ text: 'a', then: 'end' }, long), /has ended/)
  assert.equal(await converter.convert({ text: 'b' }, long), 'B')
})

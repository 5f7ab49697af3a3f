// Runs alone: it listens to the threads that its process starts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { shout } from '../../../test/harness/shout.ts'
import type { Shouted } from '../../../test/harness/shout.ts'
import { longText, TextConverter } from './text-converter.ts'
import { TextThreadError } from './text-thread-error.ts'

const long = longText + 1
const endsThread = { then: 'end' as const }

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

test('a text during which the thread ends twice fails, and the texts beside it are converted', async () => {
  const { converter } = open()
  const texts = ['a', 'b', 'c', 'd'].map((text) => converter.convert({ text, ...(text === 'b' && endsThread) }, long))
  const [a, b, c, d] = await Promise.allSettled(texts)
  assert.ok(b?.status === 'rejected' && b.reason instanceof TextThreadError)
  assert.deepEqual(
    [a, c, d].map((each) => each?.status === 'fulfilled' && each.value),
    ['A', 'C', 'D'],
  )
})

test('texts whose thread ends once are converted by another thread', async () => {
  const { converter } = open()
  process.once('worker', (worker) => void worker.terminate())
  const texts = ['a', 'b'].map((text) => converter.convert({ text }, long))
  assert.deepEqual(await Promise.all(texts), ['A', 'B'])
})

test('an answer that arrives after the error of its thread is not taken for another text', async () => {
  const { converter } = open()
  process.once('worker', (first) => {
    first.emit('error', new Error('it is out of memory'))
    first.emit('message', { text: 'late' })
    void first.terminate()
  })
  const texts = ['a', 'b'].map((text) => converter.convert({ text }, long))
  assert.deepEqual(await Promise.all(texts), ['A', 'B'])
})

test('a text fails when no thread can start, and the next text is converted when one can', async () => {
  const { converter } = open()
  const refuse = (worker: Worker) => void worker.terminate()
  process.on('worker', refuse)
  await assert.rejects(converter.convert({ text: 'a' }, long), TextThreadError)
  process.off('worker', refuse)
  assert.equal(await converter.convert({ text: 'b' }, long), 'B')
})

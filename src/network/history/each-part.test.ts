// Checks that a packed history is read from any source, and that damaged bytes only give a HistoryError.

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { proto } from '../library/library.ts'
import { eachPart } from './each-part.ts'
import { HistoryError } from './history-error.ts'

const never = new AbortController().signal
const packed = deflateSync(
  proto.HistorySync.encode({
    syncType: proto.HistorySync.HistorySyncType.RECENT,
    conversations: [{ id: 'a', messages: [{}, {}] }],
  }).finish(),
)

async function typesIn(bytes: Uint8Array, signal = never): Promise<string[]> {
  const types: string[] = []
  const read = ({ type }: { type: string }) => {
    types.push(type)
    return undefined
  }
  await eachPart({ open: () => Readable.from([Buffer.from(bytes)]) }, read, signal)
  return types
}

test('the parts of a packed history come in order', async () => {
  assert.deepEqual(await typesIn(packed), ['field', 'chat', 'chat field', 'message', 'message', 'chat end'])
})

test('the next part waits until the reader is ready', async () => {
  const steps: string[] = []
  await eachPart(
    { open: () => Readable.from([packed]) },
    async ({ type }) => {
      steps.push(`${type} begins`)
      await Promise.resolve()
      steps.push(`${type} ends`)
    },
    never,
  )
  assert.deepEqual(steps.slice(0, 4), ['field begins', 'field ends', 'chat begins', 'chat ends'])
})

test('reading ends when the connection is gone', async () => {
  await assert.rejects(typesIn(packed, AbortSignal.abort(new Error('gone'))), /gone/)
})

test('bytes that cannot be unpacked, or that end too early, are a HistoryError', async () => {
  await assert.rejects(typesIn(packed.subarray(0, -8)), HistoryError)
  await assert.rejects(typesIn(Buffer.from('no history')), HistoryError)
  await assert.rejects(typesIn(deflateSync(Buffer.from([0x12, 0x7f]))), HistoryError)
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.boolean(), async (bytes, isPacked) => {
      await typesIn(isPacked ? deflateSync(bytes) : bytes).catch((error: unknown) => {
        assert.ok(error instanceof HistoryError, String(error))
      })
    }),
  )
})

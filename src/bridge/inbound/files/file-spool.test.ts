// Runs alone: it measures the memory of its process.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { FileSpool } from './file-spool.ts'

const kilobyte = 1024

function fileOf(chunk: Buffer, times: number): Readable {
  return Readable.from(Array.from({ length: times }, () => chunk))
}

test('small files together take up a bounded part of memory; the others are read back from disk', async () => {
  const spool = new FileSpool()
  const chunk = Buffer.alloc(100 * kilobyte, 'x')
  const before = process.memoryUsage().arrayBuffers
  const kept = []
  for (let count = 0; count < 60; count++) kept.push(await spool.take(fileOf(chunk, 9), 1024 * kilobyte))
  const grown = process.memoryUsage().arrayBuffers - before
  assert.ok(grown < 24 * 1024 * kilobyte, `${Math.round(grown / kilobyte)} KB`)
  for (const { upload } of kept) {
    const bytes = await buffer(await upload.open())
    assert.ok(bytes.equals(Buffer.alloc(900 * kilobyte, 'x')))
  }
  for (const each of kept) await each[Symbol.asyncDispose]()
})

test('what was let go of makes room again', async () => {
  const spool = new FileSpool()
  const chunk = Buffer.alloc(1000 * kilobyte)
  for (let count = 0; count < 40; count++) {
    const kept = await spool.take(fileOf(chunk, 1), 1024 * kilobyte)
    const stream = await kept.upload.open()
    assert.equal('path' in stream, false, 'it is in memory')
    stream.destroy()
    await kept[Symbol.asyncDispose]()
    await kept[Symbol.asyncDispose]()
  }
})

test(
  'a large file on disk has no name, so it ends with the process',
  { skip: process.platform === 'win32' },
  async () => {
    const before = process.env['TMPDIR']
    const directory = await mkdtemp(join(tmpdir(), 'causeway-'))
    process.env['TMPDIR'] = directory
    try {
      const kept = await new FileSpool().take(fileOf(Buffer.alloc(1024 * kilobyte), 2), 4096 * kilobyte)
      assert.deepEqual(await readdir(directory), [])
      await kept[Symbol.asyncDispose]()
    } finally {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
      await rm(directory, { recursive: true })
    }
  },
)

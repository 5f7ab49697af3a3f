// Files of the history: a placeholder, or the file itself for messages that are new enough.

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import type { MediaContent, NetworkEvent } from '../../../src/core/message.ts'
import { FileError } from '../../../src/core/network.ts'
import { message } from '../../bridge/inbound/harness/bridge-bed.ts'
import { file, photo } from '../../bridge/inbound/harness/photo.ts'
import { PostingBed } from '../harness/posting-bed.ts'

const since = 1000

async function importWith(bed: PostingBed, event: NetworkEvent) {
  await bed.keep(event)
  const [outcome] = await bed.run([event], { mediaSince: since })
  return { outcome, posted: bed.helpdesk.messages.at(-1) }
}

function serve(bed: PostingBed, bytes = 'file'): void {
  bed.bridge.download = () => Promise.resolve(Readable.from([Buffer.from(bytes)]))
}

test('a file is left on the phone, and a placeholder names its kind and its name below the caption', async () => {
  await using bed = await PostingBed.open()
  serve(bed)
  const invoice: MediaContent = photo({ media: 'document', fileName: 'invoice *3*.pdf', caption: null })
  assert.deepEqual(await bed.import(message(photo()), message(invoice, { at: 2000 })), ['posted', 'posted'])
  assert.deepEqual(bed.helpdesk.contents, [
    'look\n\n📎 photo (only on the phone)',
    '📎 document: invoice \\*3\\*.pdf (only on the phone)',
  ])
  assert.deepEqual(
    bed.helpdesk.messages.map(({ files }) => files.length),
    [0, 0],
  )
})

test('the placeholder is in the language of the agents', async () => {
  for (const [locale, text] of [
    ['es', '📎 foto (solo en el teléfono)'],
    ['pt', '📎 foto (só no telefone)'],
  ] as const) {
    await using bed = await PostingBed.open({ environment: { SERVICE_LOCALE: locale } })
    await bed.import(message(photo({ caption: null })))
    assert.equal(bed.helpdesk.contents[0], text)
  }
})

test('the file of a message that is new enough is posted, an older one is not', async () => {
  await using bed = await PostingBed.open()
  serve(bed)
  const { posted } = await importWith(bed, message(photo(), { at: since }))
  assert.deepEqual([posted?.content, posted?.bytes], ['look', 4])
  const older = await importWith(bed, message(photo(), { at: since - 1 }))
  assert.equal(older.posted?.files.length, 0)
})

test('a file that expired is asked for at the phone only while the account is connected', async () => {
  await using bed = await PostingBed.open()
  let isRenewed = false
  bed.bridge.download = () => {
    if (!isRenewed) return Promise.reject(new FileError(true, 'expired'))
    return Promise.resolve(Readable.from([Buffer.from('file')]))
  }
  const event = message(photo(), { at: since })
  const running = importWith(bed, event)
  await bed.bridge.settle()
  for (let passed = 0; passed < 60_000; passed += 5000) await bed.bridge.pass(5000)
  const { posted } = await running
  assert.equal(posted?.content, 'look\n\n⚠️ The photo could not be fetched. It can be seen on the phone.')
  bed.bridge.session = {
    requestFileAgain: () => {
      isRenewed = true
      return Promise.resolve(file)
    },
  }
  // The session of the next process is connected.
  await bed.bridge.restart()
  const again = await importWith(bed, message(photo(), { at: since }))
  assert.deepEqual([again.posted?.content, again.posted?.bytes], ['look', 4])
})

test('a file that is too large is named, with the limit', async () => {
  await using bed = await PostingBed.open({ environment: { SERVICE_MEDIA_MAX_BYTES: '1mb' } })
  const { outcome, posted } = await importWith(bed, message(photo({ size: 2_000_000 }), { at: since }))
  assert.equal(outcome, 'posted')
  assert.equal(posted?.content, 'look\n\n⚠️ The photo is larger than 1 MB and can only be seen on the phone.')
})

test('a file that the helpdesk refuses is left out, and its words are posted', async () => {
  await using bed = await PostingBed.open()
  serve(bed)
  let refusals = 1
  bed.helpdesk.script = (call) => {
    if (call === 'post' && refusals-- > 0) throw new DownstreamError('permanent', 'too large', { status: 413 })
  }
  const { outcome, posted } = await importWith(bed, message(photo(), { at: since }))
  assert.equal(outcome, 'posted')
  assert.deepEqual(
    [posted?.content, posted?.files.length],
    ['look\n\n⚠️ The helpdesk refused the photo. It can be seen on the phone.', 0],
  )
})

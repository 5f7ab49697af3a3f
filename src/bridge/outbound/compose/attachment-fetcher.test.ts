import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { Destination } from '../../../core/downstream.ts'
import type { Attachment } from '../../../core/helpdesk/callback.ts'
import { fetchAttachment } from './attachment-fetcher.ts'

const destination: Destination = {
  key: 'http://desk|1|1',
  baseUrl: 'http://desk',
  apiToken: 't',
  accountId: 1,
  inboxId: 1,
}

/** The kind and the type with which a file is sent, by the type that comes with the file and the type in the callback. */
async function sentAs(downloaded: string | null, declared: string | null) {
  const attachment: Attachment = { url: 'http://desk/1', mimeType: declared, fileName: 'a', size: null }
  const download = () => {
    return Promise.resolve({ stream: Readable.from([Buffer.from('x')]), mimeType: downloaded, fileName: null, size: 1 })
  }
  const deps = { downstream: { download }, transcode: () => Promise.resolve(false) }
  await using fetched = await fetchAttachment(deps, destination, attachment, new AbortController().signal)
  const { kind, mimeType } = fetched.file
  return [kind, mimeType]
}

test('the type that comes with the file wins over the type in the callback', async () => {
  assert.deepEqual(await sentAs('image/png', 'application/pdf'), ['image', 'image/png'])
  assert.deepEqual(await sentAs('Video/MP4', null), ['video', 'video/mp4'])
})

test('a file that comes without a type, or with one that says nothing, has the type in the callback', async () => {
  assert.deepEqual(await sentAs(null, 'image/jpeg'), ['image', 'image/jpeg'])
  assert.deepEqual(await sentAs('application/octet-stream', 'audio/mpeg'), ['audio', 'audio/mpeg'])
  assert.deepEqual(await sentAs('application/octet-stream', null), ['document', 'application/octet-stream'])
  assert.deepEqual(await sentAs(null, null), ['document', 'application/octet-stream'])
})

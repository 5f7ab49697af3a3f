// Files are fetched and decrypted as a stream; what is not what was sent, fails.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { MediaTrouble } from '../../../sim/network/media/media-host.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import type { FileRef, MessageEvent } from '../../../src/core/message.ts'
import { FileError } from '../../../src/core/network.ts'
import { fileUrl } from '../../../src/network/files/download.ts'
import { authorityFile, trustMediaHost } from '../../harness/media-authority.ts'
import { Bed } from '../harness/bed.ts'

const never = new AbortController().signal
const script = fileURLToPath(new URL('../harness/download-process.ts', import.meta.url))

async function scene(stack: AsyncDisposableStack): Promise<{ bed: Bed; phone: SimPhone; bob: SimPerson }> {
  const bed = stack.use(await Bed.open())
  trustMediaHost(bed.sim)
  const phone = await bed.linked('s')
  return { bed, phone, bob: bed.sim.person({ phone: '5511888880001' }) }
}

async function fileOf(bed: Bed, id: string): Promise<{ file: FileRef; event: MessageEvent }> {
  const event = await bed.event(id)
  assert.ok(event.kind === 'message' && event.content.type === 'media')
  return { file: event.content.file, event }
}

test('every kind of file is what was sent', async () => {
  await using stack = new AsyncDisposableStack()
  const { bed, phone, bob } = await scene(stack)
  await bed.online('s')
  for (const kind of ['image', 'video', 'audio', 'document', 'sticker'] as const) {
    for (const size of [0, 1, 15, 16, 70_001]) {
      const bytes = randomBytes(size)
      const { file } = await fileOf(bed, bob.media(phone, kind, { bytes }).id)
      assert.deepEqual(await buffer(await bed.network.download('s', file, never)), bytes, `${kind} of ${size} bytes`)
    }
  }
})

test('a file that is gone, cut off or changed is refused, and says which', async () => {
  await using stack = new AsyncDisposableStack()
  const { bed, phone, bob } = await scene(stack)
  await bed.online('s')
  const { file } = await fileOf(bed, bob.media(phone, 'document', { bytes: randomBytes(200_000) }).id)
  const attempt = async (trouble: MediaTrouble): Promise<FileError> => {
    bed.sim.media.trouble(file.directPath ?? '', trouble)
    const failure = await bed.network
      .download('s', file, never)
      .then((stream: Readable) => buffer(stream))
      .then(
        () => assert.fail(`a file that is ${trouble} was taken`),
        (error: unknown) => error,
      )
    return failure as FileError
  }
  assert.equal((await attempt('missing')).gone, true)
  assert.equal((await attempt('expired')).gone, true)
  assert.match(String(await attempt('corrupt')), /damaged/)
  assert.ok((await attempt('cut')) instanceof Error)
  const wrongKey = { ...file, mediaKey: randomBytes(32).toString('base64') }
  bed.sim.media.trouble(file.directPath ?? '', undefined)
  await assert.rejects(
    bed.network.download('s', wrongKey, never).then((stream) => buffer(stream)),
    FileError,
  )
  await assert.rejects(bed.network.download('s', { ...file, mediaKey: '' }, never), FileError)
})

test('a stream that fails before it is read does no harm', async () => {
  await using stack = new AsyncDisposableStack()
  const { bed, phone, bob } = await scene(stack)
  await bed.online('s')
  const { file } = await fileOf(bed, bob.media(phone, 'image', { bytes: randomBytes(20_000) }).id)
  const abort = new AbortController()
  const stream = await bed.network.download('s', file, abort.signal)
  abort.abort()
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  await assert.rejects(buffer(stream))
})

test('the phone puts a file back that the server has lost', async () => {
  await using stack = new AsyncDisposableStack()
  const { bed, phone, bob } = await scene(stack)
  const { session } = await bed.online('s')
  const bytes = randomBytes(5_000)
  const { file, event } = await fileOf(bed, bob.media(phone, 'image', { bytes }).id)
  bed.sim.media.trouble(file.directPath ?? '', 'expired')
  const key = { chat: bob.user.pnJid, id: event.id, fromMe: false, participant: null }
  const again = await session.requestFileAgain(key, file)
  assert.notEqual(again.directPath, file.directPath)
  assert.deepEqual(await buffer(await bed.network.download('s', again, never)), bytes)
  const unknown = { ...key, id: '3EB0UNKNOWN' }
  await assert.rejects(session.requestFileAgain(unknown, file), FileError)
})

test('64 MB pass in constant memory', async () => {
  await using stack = new AsyncDisposableStack()
  const { bed, phone, bob } = await scene(stack)
  await bed.online('s')
  const size = 64 * 1024 * 1024
  const files = [randomBytes(3_000_000), Buffer.alloc(size, 7)]
  const refs = []
  for (const bytes of files) refs.push((await fileOf(bed, bob.media(phone, 'video', { bytes }).id)).file)
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: await authorityFile(bed.sim, stack) }
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(refs)], { env })
  const report = JSON.parse(stdout) as { size: number; grownBy: number }
  assert.equal(report.size, size)
  assert.ok(report.grownBy < 24 * 1024 * 1024, `memory grew by ${report.grownBy} bytes`)
})

test('only hosts of the network are asked, even if a message names another', () => {
  const file: FileRef = {
    kind: 'image',
    url: null,
    directPath: '/v/a?b=1',
    mediaKey: '',
    sha256: null,
    encSha256: null,
  }
  const at = (changes: Partial<FileRef>) => fileUrl({ ...file, ...changes }, { isElsewhere: false }).href
  assert.equal(at({}), 'https://mmg.whatsapp.net/v/a?b=1')
  assert.equal(at({ url: 'https://media-gru1-1.cdn.whatsapp.net/x' }), 'https://media-gru1-1.cdn.whatsapp.net/v/a?b=1')
  for (const url of [
    'https://evil.example/x',
    'http://mmg.whatsapp.net/x',
    'https://mmg.whatsapp.net:8443/x',
    'junk',
  ]) {
    assert.equal(at({ url }), 'https://mmg.whatsapp.net/v/a?b=1')
  }
  assert.equal(at({ directPath: '@evil.example/x' }), 'https://mmg.whatsapp.net/@evil.example/x')
  assert.throws(() => at({ directPath: null }), FileError)
})

// Recordings that are not Opus become voice notes where ffmpeg is installed, and stay recordings where it is not.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { unwrap } from '../../../sim/network/people/received-message.ts'
import { attach } from '../../harness/agent-files.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0
const needsFfmpeg = { skip: hasFfmpeg ? false : 'ffmpeg is not installed' }

async function directory() {
  const path = await mkdtemp(join(tmpdir(), 'causeway-voice-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** A tone of so many seconds, in the format that the name says. */
async function tone(name: string, seconds: number): Promise<Buffer> {
  await using place = await directory()
  const path = join(place.path, name)
  const source = ['-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}`]
  const { status, stderr } = spawnSync('ffmpeg', ['-loglevel', 'error', ...source, path])
  assert.equal(status, 0, String(stderr))
  return await readFile(path)
}

/** The recordings Bob received, once there are so many. */
async function heard({ bob }: AgentWorld, count: number) {
  const found = () => bob.messages.entries.filter(({ message }) => unwrap(message).audioMessage)
  await waitUntil(`${count} recordings have arrived`, () => found().length === count)
  return found().map((received) => {
    const { ptt, seconds, mimetype } = unwrap(received.message).audioMessage ?? {}
    return { ptt: ptt ?? false, seconds, mimetype, bytes: bob.download(received) }
  })
}

describe('with ffmpeg', needsFfmpeg, () => {
  const kinds = [
    { name: 'a.mp3', type: 'audio/mpeg' },
    // What the helpdesk's own recorder makes in browsers.
    { name: 'b.wav', type: 'audio/wav' },
    { name: 'c.m4a', type: 'audio/mp4' },
    { name: 'd.webm', type: 'audio/webm' },
  ]
  test('recordings of any format arrive as voice notes of the same length', async () => {
    await using world = await AgentWorld.open()
    const files = await Promise.all(kinds.map(async (kind) => ({ ...kind, bytes: await tone(kind.name, 2) })))
    await attach(world, '', files)
    for (const { ptt, seconds, mimetype, bytes } of await heard(world, files.length)) {
      assert.deepEqual([ptt, seconds, mimetype], [true, 2, 'audio/ogg; codecs=opus'])
      assert.deepEqual([bytes.toString('latin1', 0, 4), bytes.toString('latin1', 28, 36)], ['OggS', 'OpusHead'])
    }
  })

  test('a file that only says it is a recording goes out as it is', async () => {
    await using world = await AgentWorld.open()
    const bytes = Buffer.from('this is no sound at all')
    await attach(world, '', [{ name: 'x.mp3', type: 'audio/mpeg', bytes }])
    const [recording] = await heard(world, 1)
    assert.deepEqual([recording?.ptt, recording?.bytes], [false, bytes])
  })
})

test('without ffmpeg a recording arrives as what it is', async () => {
  const path = process.env['PATH'] ?? ''
  process.env['PATH'] = '/nowhere'
  try {
    await using world = await AgentWorld.open()
    const bytes = Buffer.concat([Buffer.from('ID3'), Buffer.alloc(2000, 0x55)])
    await attach(world, 'listen', [{ name: 'a.mp3', type: 'audio/mpeg', bytes }])
    const [recording] = await heard(world, 1)
    assert.deepEqual([recording?.ptt, recording?.mimetype, recording?.bytes], [false, 'audio/mpeg', bytes])
    await world.received('listen')
  } finally {
    process.env['PATH'] = path
  }
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createTranscoder } from './voice-note.ts'

const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0
const needsFfmpeg = { skip: hasFfmpeg ? false : 'ffmpeg is not installed' }

async function directory() {
  const path = await mkdtemp(join(tmpdir(), 'causeway-voice-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** Writes a tone of so many seconds, in the format that the name says. */
function writeTone(path: string, seconds: number): void {
  const source = ['-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}`]
  const { status, stderr } = spawnSync('ffmpeg', ['-loglevel', 'error', ...source, path])
  assert.equal(status, 0, String(stderr))
}

describe('with ffmpeg', needsFfmpeg, () => {
  test('a playlist that calls itself a recording opens no other file', async () => {
    await using place = await directory()
    writeTone(join(place.path, 'secret.ts'), 2)
    const list = `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${place.path}/secret.ts\n#EXT-X-ENDLIST\n`
    const [from, to] = [join(place.path, 'file'), join(place.path, 'voice.ogg')]
    await writeFile(from, list)
    assert.equal(await createTranscoder()(from, to, new AbortController().signal), false)
    const unguarded = spawnSync('ffmpeg', ['-loglevel', 'error', '-i', from, to])
    assert.equal(unguarded.status, 0, 'ffmpeg itself would have opened it')
  })

  test('an aborted transcoding ends at once', async () => {
    await using place = await directory()
    const from = join(place.path, 'tone.wav')
    writeTone(from, 600)
    const stop = new AbortController()
    const transcoding = createTranscoder()(from, join(place.path, 'voice.ogg'), stop.signal)
    stop.abort()
    await assert.rejects(transcoding, { name: 'AbortError' })
  })
})

test('a recording that ffmpeg cannot read is not converted, with or without ffmpeg', async () => {
  await using place = await directory()
  const transcode = createTranscoder()
  for (let count = 0; count < 2; count++) {
    const { signal } = new AbortController()
    assert.equal(await transcode(join(place.path, 'missing.wav'), join(place.path, 'voice.ogg'), signal), false)
  }
})

test('ffmpeg that is installed later is used for the next recording', async () => {
  await using place = await directory()
  const [command, to] = [join(place.path, 'converter'), join(place.path, 'voice.ogg')]
  const transcode = createTranscoder(command)
  const convert = () => transcode(join(place.path, 'tone.wav'), to, new AbortController().signal)
  assert.equal(await convert(), false)
  await writeFile(command, '#!/bin/sh\n', { mode: 0o700 })
  assert.equal(await convert(), true)
})

test('every recording is given to the command, and is converted when the command succeeds', async () => {
  await using place = await directory()
  const [command, to] = [join(place.path, 'converter'), join(place.path, 'voice.ogg')]
  // The last argument is the file that the converter writes.
  await writeFile(command, '#!/bin/sh\nfor last; do :; done\necho voice > "$last"\n', { mode: 0o700 })
  const transcode = createTranscoder(command)
  for (let count = 0; count < 2; count++) {
    assert.equal(await transcode(join(place.path, 'tone.wav'), to, new AbortController().signal), true)
    assert.equal(await readFile(to, 'utf8'), 'voice\n')
    await rm(to)
  }
})

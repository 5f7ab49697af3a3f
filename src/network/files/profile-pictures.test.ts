import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import type { BinaryNode } from '../library/library.ts'
import { ProfilePictures } from './profile-pictures.ts'

const owner = { kind: 'group' as const, id: '120363000000000001' }

function picture(url: string): BinaryNode {
  return { tag: 'iq', attrs: {}, content: [{ tag: 'picture', attrs: { id: '7', url } }] }
}

function open(url: string) {
  const clock = new ManualClock()
  const body = new PassThrough()
  const opened: string[] = []
  const asked = new PassThrough()
  const egress = {
    open: ({ url: place, signal }: { url: string | URL; signal?: AbortSignal | undefined }) => {
      opened.push(String(place))
      signal?.addEventListener('abort', () => body.destroy(signal.reason as Error))
      asked.emit('asked')
      return Promise.resolve({ status: 200, headers: {}, body })
    },
  }
  const pictures = new ProfilePictures({
    queries: { query: () => Promise.resolve(picture(url)) },
    tokensFor: () => Promise.resolve([]),
    source: { egress, agent: undefined, isElsewhere: false },
    clock,
    gone: new AbortController().signal,
  })
  return { clock, opened, asked, pictures }
}

test('a host that sends nothing more is given up after 30 s', async () => {
  const { clock, asked, pictures } = open('https://pps.whatsapp.net/a.jpg')
  const found = await pictures.find(owner)
  assert.ok(typeof found === 'object')
  const isAsked = once(asked, 'asked')
  const reading = assert.rejects(found.read(), /did not arrive within 30 s/)
  await isAsked
  await clock.advance(30_000)
  await reading
})

test('only hosts of the network are asked for a picture', async () => {
  const { opened, pictures } = open('https://pictures.example/a.jpg?b=1')
  const found = await pictures.find(owner)
  assert.ok(typeof found === 'object')
  void found.read().catch(() => undefined)
  assert.deepEqual(opened, ['https://mmg.whatsapp.net/a.jpg?b=1'])
})

// npm run demo as a process of its own, with a place for its files that shows what is left of them.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Snapshot } from '../../../demo/view.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { CliProcess } from './cli-process.ts'

export const program = '../demo/run'

/** The demo keeps everything in a temporary folder, so an own place for it shows what is left. */
export async function ownPlace() {
  const place = await mkdtemp(join(tmpdir(), 'causeway-demo-test-'))
  // Root runs PostgreSQL as another user, who must reach its folder inside of this one.
  await chmod(place, 0o711)
  return { place, [Symbol.asyncDispose]: () => rm(place, { recursive: true, force: true }) }
}

/** The demo with its page, whose address is known. */
export async function openDemo(place: string) {
  const running = new CliProcess(program, [], { TMPDIR: place })
  await running.prints(/http:\S+/)
  const url = /http:\S+/.exec(running.output)?.[0] ?? ''
  const post = (action: string, fields: object = {}, headers: Record<string, string> = {}) =>
    fetch(`${url}actions/${action}`, { method: 'POST', headers, body: JSON.stringify(fields) })
  const link = async (greeting = 'Is my bike ready?') => {
    await waitUntil('the QR code is on the page', async () => (await fetch(`${url}qr.png`)).status === 200)
    return await post('scan', { text: greeting })
  }
  return { running, url, post, link, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() }
}

export async function snapshotOf(url: string): Promise<Snapshot> {
  const end = new AbortController()
  const { body } = await fetch(`${url}events`, { signal: end.signal })
  let text = ''
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString('latin1')
    if (text.includes('\n\n')) break
  }
  end.abort()
  const [event = ''] = Buffer.from(text, 'latin1').toString().split('\n\n')
  return JSON.parse(event.slice('data: '.length)) as Snapshot
}

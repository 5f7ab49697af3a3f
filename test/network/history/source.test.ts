// Checks how the file of a history is fetched: from the host of the network, with a limit on silence.

import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { Egress } from '../../../src/lib/egress/egress.ts'
import { publicOnly } from '../../../src/lib/egress/policy.ts'
import { HistoryError } from '../../../src/network/history/history-error.ts'
import { openHistory } from '../../../src/network/history/history-source.ts'
import { LoopbackServer, loopbackCa } from '../../harness/loopback-server.ts'
import { Semaphore } from '../../../src/lib/queues/semaphore.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { sealHistory } from './harness/history-files.ts'

const never = new AbortController().signal
const { sealed, file } = sealHistory(Buffer.from('a packed history'))
const note = { ...file, directPath: '/v/history.enc?oh=1' }

async function serve(listener: Parameters<typeof LoopbackServer.start>[0]) {
  const stack = new AsyncDisposableStack()
  const server = stack.use(await LoopbackServer.start(listener, { protocol: 'https:' }))
  const egress = stack.use(new Egress({ policy: publicOnly(), ca: loopbackCa }))
  const clock = new ManualClock()
  const source = { egress, agent: undefined, isElsewhere: true }
  const deps = { source, mediaHost: () => Promise.resolve(`localhost:${server.port}`), turn: new Semaphore(1), clock }
  return { stack, server, clock, deps }
}

test('the file comes from the host that the network names, and can be read again and again', async () => {
  const paths: (string | undefined)[] = []
  const { stack, deps } = await serve(({ url }, response) => {
    paths.push(url)
    response.end(sealed)
  })
  await using owned = stack
  await using history = await openHistory(note, deps, never)
  assert.equal(await text(history.open()), 'a packed history')
  assert.equal(await text(history.open()), 'a packed history')
  assert.deepEqual(paths, ['/v/history.enc?oh=1'])
  assert.ok(owned)
})

test('a host that stops in the middle is left after 30 s', async () => {
  const { stack, server, clock, deps } = await serve((_, response) => {
    response.write(sealed.subarray(0, 5))
  })
  await using owned = stack
  const refused = assert.rejects(openHistory(note, deps, never), (error: unknown) => !(error instanceof HistoryError))
  await waitUntil('the host is asked', () => server.requests === 1)
  await clock.advance(31_000)
  await refused
  assert.ok(owned)
})

test('a notification without a file and without content is a HistoryError', async () => {
  const { stack, deps } = await serve((_, response) => response.end())
  await using owned = stack
  await assert.rejects(openHistory({}, deps, never), HistoryError)
  assert.ok(owned)
})

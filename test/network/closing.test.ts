// Every way a connection can end, in the words of the port; and how silence is noticed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CloseCause } from '../../src/core/network/closing.ts'
import { closingOf } from '../../src/network/connection/close-causes.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { Bed } from './harness/bed.ts'
import { plain } from './harness/contents.ts'

const refusals: [number, CloseCause, RegExp][] = [
  [401, 'invalidated', /pair it again/],
  [403, 'banned', /look at the phone/],
  [405, 'client_refused', /SERVICE_NETWORK_VERSION/],
  [406, 'banned', /banned/],
  [409, 'client_refused', /update the service/],
  [411, 'client_refused', /phone/],
  [418, 'transient', /418/],
  [500, 'transient', /internal error/],
  [503, 'transient', /not available/],
]

test('a refused login is told by its cause, its code and a reason', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  for (const [code, cause, reason] of refusals) {
    bed.sim.fault({ kind: 'login_failure', code })
    const line = await bed.dial('s')
    const closing = await line.closing()
    assert.deepEqual([closing.cause, closing.code], [cause, code])
    assert.match(closing.reason, reason)
    assert.deepEqual(line.kinds, ['closed'])
  }
  await bed.online('s')
})

test('a temporary ban says why and until when', async () => {
  const clock = new ManualClock()
  await using bed = await Bed.open({ clock })
  await bed.linked('s')
  for (const [ban, why] of [
    [101, /do not know/],
    [102, /blocked/],
    [103, /groups/],
    [104, /same message/],
    [106, /broadcast/],
  ] as const) {
    bed.sim.fault({ kind: 'login_failure', code: 402, ban: { code: ban, expire: 3600 } })
    const { cause, code, reason, until } = await (await bed.dial('s')).closing()
    assert.deepEqual([cause, code], ['temporary_ban', 402])
    assert.match(reason, why)
    assert.equal(until, clock.now() + 3_600_000)
  }
})

test('a stream error is told by its cause', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  for (const [reason, cause, code] of [
    ['replaced', 'replaced', 440],
    ['restart', 'restart', 515],
    [503, 'transient', 503],
    ['device_removed', 'invalidated', 401],
  ] as const) {
    const line = await bed.online('s')
    await bed.sim.strike({ kind: 'stream_error', reason })
    const closing = await line.closing()
    assert.deepEqual([closing.cause, closing.code], [cause, code])
  }
})

test('a connection that just breaks has no code, and neither has a proxy that answers like a network', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  const line = await bed.online('s')
  await bed.sim.strike({ kind: 'drop' })
  const { cause, code } = await line.closing()
  assert.deepEqual([cause, code], ['transient', null])
  const upgrade = Object.assign(new Error('WebSocket Error (Unexpected server response: 403)'), {
    output: { statusCode: 403 },
  })
  assert.deepEqual([closingOf(upgrade, Date).cause, closingOf(upgrade, Date).code], ['transient', null])
  const removed = Object.assign(new Error('Stream Errored (conflict)'), {
    output: { statusCode: 440 },
    data: { tag: 'conflict', attrs: { type: 'device_removed' } },
  })
  assert.equal(closingOf(removed, Date).cause, 'invalidated')
})

test('a network that cannot be reached is tried again later', async () => {
  await using bed = await Bed.open({
    network: { settings: { url: 'ws://127.0.0.1:9/', rootKey: null, caFile: '', version: [], proxy: null } },
  })
  await bed.linked('s')
  const { cause, reason } = await (await bed.dial('s')).closing()
  assert.equal(cause, 'transient')
  assert.match(reason, /ECONNREFUSED/)
})

test('a server that cannot show a certificate of the root key is refused', async () => {
  await using other = await Bed.open({ sim: { seed: 'another root' } })
  await other.linked('s')
  await using bed = await Bed.open()
  assert.notDeepEqual(bed.sim.rootKey, other.sim.rootKey)
  const { cause, reason } = await (await other.dial('s')).closing()
  assert.equal(cause, 'transient')
  assert.match(reason, /certificate/)
})

test('a server that shows a genuine certificate without having its key is refused, and learns nothing', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  bed.sim.fault({ kind: 'foreign_certificate' })
  const line = await bed.dial('s')
  const { cause, reason, errorCode } = await line.closing()
  assert.deepEqual([cause, errorCode], ['transient', 'server_not_genuine'])
  assert.match(reason, /no valid certificate of WhatsApp/)
  assert.deepEqual(line.kinds, ['closed'])
  assert.equal(bed.sim.loginAttempts, 0)
  await bed.online('s')
})

test('a second connection of the same device replaces the first, which closes without a signal', async () => {
  await using bed = await Bed.open()
  await bed.linked('s')
  const first = await bed.online('s')
  const second = await bed.online('s')
  await second.session.probe(60_000)
  await assert.rejects(first.session.probe(60_000), /ended/)
  assert.deepEqual(first.kinds, ['authenticated', 'drained'])
})

test('a probe is answered by a living server and fails on a silent one', async () => {
  const clock = new ManualClock()
  await using bed = await Bed.open({ clock })
  await bed.linked('s')
  const line = await bed.online('s')
  await line.session.probe(1_000)
  await bed.sim.strike({ kind: 'silence' })
  const probe = line.session.probe(1_000)
  const failed = assert.rejects(probe, /no answer within 1000 ms/)
  await clock.advance(1_000)
  await failed
  let isClosed = false
  void line.session.close().then(() => (isClosed = true))
  // The library's socket would wait 30 s of real time for the peer to say goodbye: the limit only tells that apart.
  await waitUntil('the session is closed without the peer', () => isClosed, { timeoutMs: 25_000 })
  assert.deepEqual(line.kinds, ['authenticated', 'drained'])
})

test('after close() no signal comes, and the socket is gone', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const line = await bed.online('s')
  await line.session.close()
  await waitUntil('the server sees the socket go', () => !phone.companion.isConnected)
  await assert.rejects(line.session.send('1@s.whatsapp.net', plain('x'), 'ID'), /lost/)
  await line.session.close()
  assert.deepEqual(line.kinds, ['authenticated', 'drained'])
})

test('a connection that is being opened at the end of the process is refused, and asks storage for nothing afterwards', async () => {
  const bed = await Bed.open()
  await bed.linked('s')
  let signals = 0
  const openings = ['s', 'new'].map((sessionId) =>
    bed.network.open({ sessionId, instance: 'a' }, () => {
      signals++
    }),
  )
  const ended = bed[Symbol.asyncDispose]()
  for (const opening of openings) await assert.rejects(opening, /closed/)
  await ended
  await assert.rejects(
    bed.network.open({ sessionId: 's', instance: 'a' }, () => undefined),
    /closed/,
  )
  assert.equal(signals, 0)
})

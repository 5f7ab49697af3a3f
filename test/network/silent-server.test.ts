// A server that takes the connection and never says a word.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { ManualClock } from '../harness/manual-clock.ts'
import { Bed } from './harness/bed.ts'
import { settingsFor } from './harness/network-room.ts'

test('a connection that hears nothing ends after 20 s of the service clock', async () => {
  const callers: Socket[] = []
  const server = createServer((caller) => callers.push(caller))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  await using stack = new AsyncDisposableStack()
  stack.defer(() => {
    for (const caller of callers) caller.destroy()
    server.close()
  })
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const clock = new ManualClock()
  const settings = settingsFor({ url, rootKey: Buffer.alloc(32) })
  const bed = stack.use(await Bed.open({ clock, network: { settings } }))
  const called = once(server, 'connection')
  const line = await bed.dial('one')
  await called

  await clock.advance(19_999)
  assert.deepEqual(line.kinds, [])
  await clock.advance(1)

  const closing = await line.closing()
  assert.equal(closing.cause, 'transient')
  assert.equal(closing.code, 408)
})

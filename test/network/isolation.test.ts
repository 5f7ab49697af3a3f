// A fault in one session stays there: its neighbours and the process do not notice.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { Bed } from './harness/bed.ts'
import { settingsFor, storeLinked } from './harness/network-room.ts'
import { Relay } from './harness/relay.ts'
import { holdOf } from '../harness/holds.ts'

test('a thrown signal handler is logged and nothing else', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const session = await bed.network.open({ sessionId: 's', instance: 's' }, () => {
    throw new Error('the supervisor stumbles')
  })
  await waitUntil('three signals failed', () => bed.logs.withMessage('signal handler failed').length >= 2)
  await session.probe(60_000)
  assert.equal(phone.companion.isConnected, true)
})

test('an event the library cannot handle does not end the session', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  await bed.linked('t', '5511999990002')
  const line = await bed.online('s')
  const neighbour = await bed.online('t')
  // A code without content, which the library takes for granted.
  const offer = { tag: 'pair-device', attrs: {}, content: [{ tag: 'ref', attrs: {} }] }
  phone.companion.connection?.send({
    tag: 'iq',
    attrs: { id: '1', type: 'set', from: 's.whatsapp.net' },
    content: [offer],
  })
  await waitUntil('a failure was reported', () => bed.logs.withMessage('network event not handled').length > 0)
  await line.session.probe(60_000)
  await neighbour.session.probe(60_000)
})

test('an unreadable frame ends its own session only', async () => {
  await using sim = await SimNetwork.start()
  await using relay = await Relay.to(sim.url)
  await using bed = await Bed.open({ network: { settings: { ...settingsFor(sim), url: relay.url } } })
  for (const [session, number] of [
    ['s', '5511999990001'],
    ['t', '5511999990002'],
  ] as const) {
    await storeLinked(sim, sim.account({ phone: number }), (writes) =>
      bed.store.save(holdOf('a', bed.epoch), session, writes),
    )
  }
  const neighbour = await bed.online('t')
  const line = await bed.online('s')
  relay.sendGarbage()
  const { cause, reason } = await line.closing()
  assert.equal(cause, 'transient')
  assert.match(reason, /unreadable/)
  await neighbour.session.probe(60_000)
  assert.deepEqual(neighbour.kinds, ['authenticated', 'drained'])
  await bed.online('s')
})

test('an error that escapes the library ends one session; an error of other code ends the process', async () => {
  const script = fileURLToPath(new URL('./harness/escaping-process.ts', import.meta.url))
  for (const [whose, code] of [
    ['session', 0],
    ['stranger', 7],
  ] as const) {
    const child = spawn(process.execPath, [script, whose], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const [exit] = (await once(child, 'close')) as [number | null]
    assert.equal(exit, code, output)
  }
})

// Every change of state says why: in the log, in the last error of the instance, and in the answers to callers that wait.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Database } from '../../../src/storage/database.ts'
import { engines } from '../../harness/databases.ts'
import { owner } from '../../harness/instance-api.ts'
import type { Detail } from '../../harness/instance-api.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

const [info, warn] = [30, 40]

const changesOf = (world: World) => world.service.logs.withMessage('instance state changed')
/** The lines of changes to this state. */
const changesTo = (world: World, state: string) => changesOf(world).filter(({ to }) => to === state)

test('every change of state is one line with its reason', async () => {
  await using world = await World.unlinked()
  const phone = await world.pair('a')
  await world.network.strike({ kind: 'drop', account: owner })
  await waitUntil('the drop is logged', () => changesTo(world, 'disconnected').length === 1)
  await world.reaches('a', 'ready')
  await world.command('/a/restart')
  await world.reaches('a', 'ready')
  await world.network.strike({ kind: 'stream_error', account: owner, reason: 'replaced' })
  await waitUntil('the second drop is logged', () => changesTo(world, 'disconnected').length === 2)
  await world.command('/a/restart')
  await world.reaches('a', 'ready')
  phone.unlink()
  await world.reaches('a', 'logged_out')
  const lines = changesOf(world)
  const silent = lines.filter(({ reason }) => typeof reason !== 'string' || reason === '')
  assert.deepEqual(silent, [])
  const [, replaced] = changesTo(world, 'disconnected')
  const { level, from, reason, code, error_code } = replaced ?? {}
  assert.deepEqual([level, from, code, error_code], [info, 'ready', 440, 'replaced'])
  assert.equal(reason, 'another client opened the same session')
  assert.ok(changesTo(world, 'connecting').some((line) => line['reason'] === 'a restart was asked for'))
  const [gone] = changesTo(world, 'logged_out')
  assert.deepEqual([gone?.['level'], gone?.['code'], gone?.['error_code']], [warn, 401, 'logged_out'])
  assert.match(String(gone?.['reason']), /^the device was removed/)
})

test('a pairing that was open when the service stopped says so', async () => {
  const seed = async (database: Database) => {
    const row = sampleInstanceColumns('a', { state: 'qr_pending' })
    await database.write(database.query.insertInto('instances').values(row))
  }
  await using service = await Service.start({ seed })
  let detail: Partial<Detail> = {}
  await waitUntil('the pairing is given up', async () => {
    detail = (await service.get('/api/instances/a')).body as Detail
    return detail.state === 'disconnected'
  })
  const { last_error, last_error_code } = detail
  assert.equal(last_error_code, 'not_scanned')
  assert.match(last_error ?? '', /the service stopped before a phone scanned a code/)
})

test('the answers to a caller that waits, or asks for the QR code, carry the last error', async () => {
  const clock = new ManualClock()
  await using world = await World.unlinked({ clock })
  await world.network.goAway()
  await world.create({ name: 'a' })
  await waitUntil('the attempt has failed', async () => (await world.detail('a')).last_error !== null)
  const qr = await world.service.get('/api/instances/a/qr')
  const { error_code, state, last_error, last_error_code } = qr.body as Record<string, string>
  assert.deepEqual([qr.status, error_code, state], [404, 'SERVICE_NO_QR', 'qr_pending'])
  assert.equal(last_error_code, 'network_unreachable')
  assert.match(
    last_error ?? '',
    /^WhatsApp cannot be reached: the connection was refused \(ECONNREFUSED\)\. What to do: check SERVICE_NETWORK_URL/,
  )
  const waited = await clock.advanceUntil(world.service.get('/api/instances/a/wait-ready?timeout=1'))
  assert.equal(waited.status, 408)
  assert.equal((waited.body as Record<string, string>)['last_error_code'], 'network_unreachable')
})

describe('the gauge of the state', () => {
  const series = async (world: World) => {
    const { text } = await world.service.get('/metrics')
    return [...text.matchAll(/^service_instance_state\{(.*)\} (\d)$/gm)].map(
      ([, labels, value]) => `${labels} ${value}`,
    )
  }
  const line = (state: string, tag = '') => `instance="a",owner_tag="${tag}",state="${state}" 1`

  for (const engine of engines) {
    test(`is 1 for the current state only, and goes with the instance, on ${engine}`, async () => {
      await using world = await World.unlinked({ engine })
      assert.deepEqual(await series(world), [])
      await world.create({ name: 'a' })
      assert.deepEqual(await series(world), [line('qr_pending')])
      await world.pair('a')
      assert.deepEqual(await series(world), [line('ready')])
      await world.patch('a', { owner_tag: 'acme' })
      assert.deepEqual(await series(world), [line('ready', 'acme')])
      await world.service.request('DELETE', '/api/instances/a')
      assert.deepEqual(await series(world), [])
    })
  }
})

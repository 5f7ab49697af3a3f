// The checks of the machine and of the settings of the process. Advice does not count: messages flow without it.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { Machine } from '../../../src/setup/checks/machine.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { checkOf, checkSetup, unhappy } from '../../harness/setup-report.ts'

const gigabyte = 1024 ** 3

class TestMachine implements Machine {
  free = 50 * gigabyte
  hasFfmpeg = true
  readonly directories = new Set<string>()

  freeBytes(directory: string): Promise<number> {
    this.directories.add(directory)
    return Promise.resolve(this.free)
  }

  freeShare(): Promise<number> {
    return Promise.resolve(1)
  }

  runs(program: string): Promise<boolean> {
    return Promise.resolve(program === 'ffmpeg' && this.hasFfmpeg)
  }
}

test('ffmpeg, disk, key and listener are broken one after the other, and each cure cures', async () => {
  const machine = new TestMachine()
  await using world = await AgentWorld.open({ machine })
  const report = () => checkSetup(world.service, 'n0')
  const key = randomBytes(32).toString('base64')
  assert.deepEqual(unhappy(await report()), ['encryption_key'])
  assert.deepEqual([(await report()).ok, checkOf(await report(), 'encryption_key').result], [true, 'advice'])
  assert.match(checkOf(await report(), 'encryption_key').cure ?? '', /SERVICE_ENCRYPTION_KEY/)
  await world.restart({ SERVICE_ENCRYPTION_KEY: key })
  assert.deepEqual(unhappy(await report()), [])

  machine.hasFfmpeg = false
  assert.deepEqual([unhappy(await report()), (await report()).ok], [['ffmpeg'], true])
  assert.match(checkOf(await report(), 'ffmpeg').cure ?? '', /install ffmpeg/)
  machine.hasFfmpeg = true

  machine.free = gigabyte / 2
  assert.deepEqual([unhappy(await report()), (await report()).ok], [['disk_space'], true])
  machine.free = gigabyte / 10
  assert.deepEqual([unhappy(await report()), (await report()).ok], [['disk_space'], false])
  assert.match(checkOf(await report(), 'disk_space').sentence, /102 MB are free/)
  assert.equal((await world.health()).status, 'degraded')
  machine.free = 50 * gigabyte
  assert.deepEqual(unhappy(await report()), [])
  assert.equal((await world.health()).status, 'ok')
  assert.equal(machine.directories.size, 2, 'the database and the scratch files')

  await world.restart({ SERVICE_ENCRYPTION_KEY: key, SERVICE_API_TOKEN: '', HOST: '0.0.0.0' })
  const open = checkOf(await report(), 'public_listener')
  assert.deepEqual([(await report()).ok, open.result], [false, 'broken'])
  assert.match(open.cure ?? '', /SERVICE_API_TOKEN/)
  await world.restart({ SERVICE_ENCRYPTION_KEY: key, SERVICE_API_TOKEN: '', HOST: '127.0.0.1' })
  assert.equal(checkOf(await report(), 'public_listener').result, 'ok')
})

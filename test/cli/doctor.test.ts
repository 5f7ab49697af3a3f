// The doctor asks a real service between a simulated Chatwoot and a simulated WhatsApp.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../harness/agent-world.ts'
import { apiToken } from '../harness/service.ts'
import { World } from '../harness/world.ts'
import { CliProcess } from './harness/cli-process.ts'

const token = { SERVICE_API_TOKEN: apiToken }
const doctor = (world: World, ...args: string[]) =>
  CliProcess.run('doctor', [...args, '--url', world.service.app.url], token)

const publicUrl = 'http://bridge.example'

describe('npm run doctor', { concurrency: 2 }, () => {
  test('a broken set-up has a cross, a sentence and a cure, and after the cure a mark', async () => {
    await using world = await AgentWorld.open({ environment: { SERVICE_PUBLIC_URL: publicUrl } })
    const address = `${publicUrl}/api/instances/n0/webhook`
    const inbox = (webhook_url: string) => world.desk.patch('/inboxes/1', { channel: { webhook_url } })
    await inbox('')
    const broken = await doctor(world, 'n0', '--read-only')
    assert.deepEqual([broken.code, broken.errors], [1, ''])
    assert.match(broken.output, /^✗ webhook_address: .+\n {4}→ .+$/m)
    assert.match(broken.output, /^✓ token: .+$/m)
    await inbox(address)
    const sound = await doctor(world, 'n0', '--read-only')
    assert.match(sound.output, /^✓ webhook_address: .+$/m)
    assert.equal(sound.code, 0, sound.output)
  })

  test('the round trip is heard, unless it is left out', async () => {
    await using world = await AgentWorld.open()
    assert.match((await doctor(world, 'n0')).output, /^✓ round_trip: .+$/m)
    assert.doesNotMatch((await doctor(world, 'n0', '--read-only')).output, /^✓ round_trip/m)
  })

  test('npm run link ends with the same list', async () => {
    await using world = await AgentWorld.open()
    const { code, output } = await CliProcess.run('link', ['n0', '--url', world.service.app.url], token)
    assert.match(output, /^✓ n0 is linked with \d+ and ready\.\n/)
    assert.match(output, /^✓ round_trip: .+$/m)
    assert.equal(code, output.includes('✗') ? 1 : 0)
  })

  test('all instances are checked, and what they share is said once', async () => {
    await using world = await World.open({ accounts: 2 })
    const { code, output } = await doctor(world, '--read-only')
    assert.equal(code, 1)
    assert.match(output, /^every instance\n[^]*\n\nn0\n[^]*\n\nn1\n/)
    assert.equal(output.match(/ token: /g)?.length, 1)
    const json = JSON.parse((await doctor(world, '--read-only', '--json')).output) as Record<string, unknown>
    assert.equal(json['ok'], false)
    assert.deepEqual(Object.keys(json['instances'] as object), ['n0', 'n1'])
  })

  test('a service without an instance, and one that cannot be asked', async () => {
    await using world = await World.unlinked()
    const empty = await doctor(world)
    assert.deepEqual([empty.code, empty.errors], [0, ''])
    assert.match(empty.output, /It has no instance yet: npm run link/)
    const unknown = await doctor(world, 'nowhere')
    assert.deepEqual([unknown.code, unknown.output], [1, ''])
    assert.match(unknown.errors, /^[^\n]*nowhere[^\n]*\n$/)
    await world.stop()
    const stopped = await doctor(world)
    assert.deepEqual([stopped.code, stopped.output], [2, ''])
    assert.match(stopped.errors, /^The service does not answer: .* Start it with npm start/)
  })
})

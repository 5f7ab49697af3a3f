// Runs the example of docs/simulator.md as it is printed there.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import './harness/quiet.ts'
import { ControlServer } from '../../sim/control/control-server.ts'
import { SimWorld } from '../../sim/sim-world.ts'
import { waitUntil } from '../harness/wait-until.ts'

test('the example in the documentation pairs the unmodified library', async () => {
  await using world = await SimWorld.start()
  const { network } = world
  await using control = await ControlServer.start(world)
  const text = await readFile('docs/simulator.md', 'utf8')
  const example = /```js\n([^]*?)```/.exec(text)?.[1] ?? ''
  const settings = {
    ROOT_KEY: network.rootKey.toString('hex'),
    CONTROL_URL: control.url,
    NETWORK_URL: network.url,
  }
  const constants = Object.entries(settings).map(([name, value]) => `const ${name} = '${value}'\n`)
  const quiet = `import { pino } from '${import.meta.resolve('pino')}'\n`
  const directory = await mkdtemp(join(tmpdir(), 'causeway-example-'))
  const runnable = example
    .replace('./auth', directory)
    .replace("from 'baileys'", `from '${import.meta.resolve('baileys')}'`)
    .replace('waWebSocketUrl: NETWORK_URL', "waWebSocketUrl: NETWORK_URL, logger: pino({ level: 'silent' })")
  const file = join(directory, 'example.mjs')
  await writeFile(file, quiet + constants.join('') + runnable)
  // In a process of its own: the unmodified library leaves timers behind that would keep this one alive.
  const client = spawn(process.execPath, [file], { stdio: 'ignore' })
  await waitUntil('the account exists', () => network.phone('5511999990001') !== undefined)
  const phone = network.phone('5511999990001')
  await phone?.companionEvents.waitFor('the client online', (one) => one.state === 'online')
  assert.equal(phone?.companions.length, 1)
  phone.unlink()
  await phone.companionEvents.waitFor('the client offline', (one) => one.state === 'unlinked')
  client.kill('SIGKILL')
  await once(client, 'exit')
  await rm(directory, { recursive: true, maxRetries: 5, retryDelay: 50 })
})

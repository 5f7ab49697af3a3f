// npm run demo: it stays on this machine, and leaves nothing on it.

import assert from 'node:assert/strict'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Stage } from '../../demo/stage.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { CliProcess } from './harness/cli-process.ts'
import { openDemo, ownPlace, program } from './harness/demo.ts'

const probe = new URL('harness/report-connections.ts', import.meta.url)

test('the demo and its service connect to this machine only, and look up no other name', async () => {
  await using own = await ownPlace()
  const file = join(own.place, 'connections')
  probe.searchParams.set('file', file)
  const environment = { TMPDIR: own.place, NODE_OPTIONS: `--import=${probe.href}` }
  const { code, output, errors } = await CliProcess.run(program, ['--check'], environment)
  assert.equal(code, 0, output + errors)
  const lines = (await readFile(file, 'utf8')).trim().split('\n')
  const seen = lines.map((line) => line.split(' '))
  assert.equal(new Set(seen.map(([pid]) => pid)).size, 3, 'the demo, the service, and the service after its kill')
  assert.deepEqual([...new Set(seen.map(([, host]) => host))].sort(), ['127.0.0.1', 'localhost'])
})

test('a Ctrl+C in the middle of the start leaves no file and no service', async () => {
  await using own = await ownPlace()
  await using running = new CliProcess(program, [], { TMPDIR: own.place })
  // The folder is the first thing that the demo makes.
  await waitUntil('the start is under way', async () => (await readdir(own.place)).length > 0)
  running.send('SIGINT')
  const { code } = await running.ended()
  assert.equal(code, 130)
  assert.deepEqual(await readdir(own.place), [])
})

test('a Ctrl+C while the killed service starts again leaves no file and no service', async () => {
  await using own = await ownPlace()
  await using demo = await openDemo(own.place)
  const { running, post, link } = demo
  await link()
  const kill = post('kill', { text: 'before', later: 'while dead' }).catch(() => undefined)
  running.send('SIGINT')
  assert.equal((await running.ended()).code, 130)
  await kill
  assert.deepEqual(await readdir(own.place), [])
})

test('a start that comes after the end is refused', async () => {
  await using own = new AsyncDisposableStack()
  const end = new AsyncDisposableStack()
  const { bridge, world } = await Stage.open(end)
  own.use(world)
  await end.disposeAsync()
  await assert.rejects(bridge.start(), /the demo has ended/)
  assert.equal(bridge.starts, 0)
})

test('a closed terminal ends the demo as Ctrl+C does', async () => {
  await using own = await ownPlace()
  await using demo = await openDemo(own.place)
  demo.running.send('SIGHUP')
  await demo.running.ended()
  assert.deepEqual(await readdir(own.place), [])
})

test('after a kill -9 of the demo its service stops, and the next demo removes its folder', async () => {
  await using own = await ownPlace()
  await using demo = await openDemo(own.place)
  await demo.link()
  const [left = ''] = await readdir(own.place)
  const isUp = async () => (await readFile(join(own.place, left, 'demo.db-wal')).catch(() => undefined)) !== undefined
  demo.running.send('SIGKILL')
  await demo.running.ended()
  assert.deepEqual(await readdir(own.place), [left])
  // A service that stops in order closes its database, and SQLite then removes the journal.
  await waitUntil('the service has stopped', async () => !(await isUp()))
  const foreign = `causeway-demo-${process.pid}-other`
  await mkdir(join(own.place, foreign))
  await using next = await openDemo(own.place)
  const folders = await readdir(own.place)
  assert.equal(folders.includes(left), false, 'the folder of a demo that has ended is removed')
  assert.equal(folders.includes(foreign), true, 'the folder of a process that runs stays')
  next.running.send('SIGTERM')
  await next.running.ended()
})

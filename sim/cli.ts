// Runs the simulator as a process: prints its addresses as one line of JSON and runs until a signal.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ControlServer } from './control/control-server.ts'
import { parseHelpdeskVersion } from './helpdesk/versions.ts'
import { SimWorld } from './sim-world.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'network-port': { type: 'string', default: '0' },
    'helpdesk-port': { type: 'string', default: '0' },
    'helpdesk-version': { type: 'string', default: '4.14' },
    seed: { type: 'string', default: 'causeway' },
    addressing: { type: 'string', default: 'pn' },
    'ca-file': { type: 'string' },
    'qr-refs': { type: 'string', default: '6' },
    'qr-rotation-ms': { type: 'string', default: '20000' },
  },
})
const wholeOption = (
  name: Exclude<keyof typeof values, 'seed' | 'addressing' | 'ca-file' | 'helpdesk-version'>,
  min: number,
): number => {
  const value = Number(values[name])
  if (!Number.isSafeInteger(value) || value < min) throw new Error(`--${name} must be a whole number from ${min}`)
  return value
}
const { addressing } = values
if (addressing !== 'pn' && addressing !== 'lid') throw new Error('--addressing must be pn or lid')
const world = await SimWorld.start({
  seed: values.seed,
  network: {
    port: wholeOption('network-port', 0),
    addressing,
    qrRefs: wholeOption('qr-refs', 1),
    qrRotationMs: wholeOption('qr-rotation-ms', 1),
  },
  helpdesk: {
    port: wholeOption('helpdesk-port', 0),
    version: parseHelpdeskVersion(values['helpdesk-version']),
  },
})
const { network, helpdesk } = world
// `GET /stanzas` lists them. They do not fail this process.
network.log.areViolationsAllowed = true
const control = await ControlServer.start(world, wholeOption('port', 0))
const directory = await mkdtemp(join(tmpdir(), 'causeway-sim-'))
const caFile = resolve(values['ca-file'] ?? join(directory, 'ca.pem'))
await mkdir(dirname(caFile), { recursive: true })
await writeFile(caFile, network.authority.pem)

const stop = async (): Promise<void> => {
  await control[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]().catch((error: unknown) => {
    console.error(String(error))
    process.exitCode = 1
  })
  await rm(directory, { recursive: true })
  // A client may still wait for a message. No message can come any more, so the process ends here.
  process.exit()
}
// Ctrl+C comes from the terminal, and once more from npm: only the first signal counts.
let stopped: Promise<void> | undefined
const stopOnce = (): void => {
  stopped ??= stop()
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stopOnce)
// A killed npm passes no signal on, so the simulator also stops when its parent is gone.
const parent = process.ppid
if (process.env.npm_lifecycle_event === 'sim') {
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    stopOnce()
  }, 200)
  watch.unref()
}

console.log(
  JSON.stringify({
    network: { url: network.url, root_key: network.rootKey.toString('hex'), ca_file: caFile },
    control: { url: control.url },
    helpdesk: helpdesk.facts,
    agent_view: helpdesk.agentView,
  }),
)

// What a message of an agent costs, from the helpdesk's callback to the network's acknowledgement, against the bare library.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchmarkResult } from './benchmark.ts'
import { Child } from './child.ts'
import { figuresOf, isReady, measureFlow, messagesPer, numbersOf, until, ways } from './flow.ts'
import type { Figures, Limits, Target, Way } from './flow.ts'
import { openServices } from './flow-services.ts'
import type { Services, ServiceWay } from './flow-services.ts'
import { parseCredentials, writeFiles } from './instances-seed.ts'
import type { BareDesk } from './outbound-bare.ts'
import type { CallbackDesk } from './outbound-callbacks.ts'
import type { SimDesk } from './outbound-sim.ts'

type Chats = Record<Target, string[]>
type Place = { accountId: number; inboxId: number }
type Stage = Services & { sim: Child<SimDesk>; callbacks: Child<CallbackDesk>; bare: Child<BareDesk> } & {
  urls: Record<ServiceWay, string>
  chats: Record<Way, Chats>
  place: Place
}

const messages = messagesPer({ person: 600, group: 50 })
const least = { person: 10, group: 2 }
const readers = { person: 1, group: 99 }

export function run(): Promise<BenchmarkResult> {
  return measureFlow<Stage>({
    open,
    block,
    problems: ({ sim }) => sim.ask('problems'),
    limits,
    countOf: (target, instances) => eachOf(target, instances) * instances,
  })
}

function limits(instances: number, target: Target): Limits {
  if (target === 'group') return { cpu: { atMost: 0.08 }, rate: { atLeast: 10 } }
  return instances === 1 ? { cpu: { atMost: 1 } } : { cpu: { atMost: 0.65 }, rate: { atLeast: 1.6 } }
}

function eachOf(target: Target, instances: number): number {
  return Math.max(least[target], messages[target] / instances)
}

async function open(stack: AsyncDisposableStack, instances: number): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const sim = stack.use(new Child<SimDesk>('./outbound-sim.ts'))
  const callbacks = stack.use(new Child<CallbackDesk>('./outbound-callbacks.ts'))
  const facts = await sim.ask('facts')
  const numbers = numbersOf(instances)
  const linked = {
    ours: await sim.ask('link', numbers.ours),
    postgres: await sim.ask('link', numbers.postgres),
    bare: await sim.ask('link', numbers.bare),
  }
  const accountsOf = (way: Way) => linked[way].map(({ credentials }) => parseCredentials(credentials, 30))
  const files = await writeFiles(directory, accountsOf('bare'))
  const network = { NETWORK_URL: facts.url, NETWORK_ROOT_KEY: facts.rootKey }
  const bare = stack.use(new Child<BareDesk>('./outbound-bare.ts', network))
  const accounts = { ours: accountsOf('ours'), postgres: accountsOf('postgres') }
  const settings = { SERVICE_DRAIN_RATE: '0' }
  const services = await openServices(stack, { directory, facts, accounts, settings })
  await bare.ask('start', files)
  const urls = { ours: await services.ours.ask('start'), postgres: await services.postgres.ask('start') }
  for (const way of ways) {
    await until(`${way} is online`, async () => (await sim.ask('online', numbers[way])) === instances)
  }
  for (const url of Object.values(urls)) await until('the service is ready', () => isReady(url))
  const chatsOf = (way: Way) => ({
    person: linked[way].map(({ person }) => person),
    group: linked[way].map(({ group }) => group),
  })
  const place = { accountId: facts.helpdesk.account_id, inboxId: facts.helpdesk.inbox_id }
  const chats = { ours: chatsOf('ours'), postgres: chatsOf('postgres'), bare: chatsOf('bare') }
  return { ...services, sim, callbacks, bare, urls, chats, place }
}

async function block({ sim, callbacks, bare, ...stage }: Stage, way: Way, target: Target): Promise<Figures> {
  const chats = stage.chats[way][target]
  const each = eachOf(target, chats.length)
  const count = each * chats.length
  const cpuMsSoFar = () => (way === 'bare' ? bare : stage[way]).ask('cpuMs')
  const [before, receivedBefore] = [await cpuMsSoFar(), await sim.ask('received')]
  const simulatorBefore = await sim.ask('cpuMs')
  const started = performance.now()
  const times =
    way === 'bare'
      ? await bare.ask('send', { chats, each })
      : await callbacks.ask('write', { chats, urls: chats.map(() => [stage.urls[way]]), each, ...stage.place })
  const wallMs = performance.now() - started
  await until(`${way} has sent ${count} messages`, async () => {
    return (await sim.ask('received')) - receivedBefore >= count * readers[target]
  })
  const cpuMs = (await cpuMsSoFar()) - before
  const simulatorCores = ((await sim.ask('cpuMs')) - simulatorBefore) / (performance.now() - started)
  return { ...figuresOf({ cpuMs, wallMs, count, times }), simulator_cores: simulatorCores }
}

// How many sessions the simulator holds and how many messages a second it takes and gives, its clients in another process.
import { round, type BenchmarkResult } from './benchmark.ts'
import { Child } from './child.ts'
import { LightClient } from './simulator-client.ts'
import { sealForGroup } from './simulator-group.ts'
import type { HostDesk, SessionKeys } from './simulator-host.ts'

/** BENCH_INSTANCES=200 for a quick try. */
const SESSIONS = Number(process.env['BENCH_INSTANCES'] ?? 1_000)
const PEOPLE = 100
const GIVEN = 10 * SESSIONS
const SENDERS = 100
const TAKEN_EACH = 100
const GROUPS = 50
const TAKEN_IN_EACH_GROUP = 10
const CONNECTING_AT_ONCE = 20
const POLL_MS = 25

/**
 * What other benchmarks need of one core of the simulator: a thousand sessions, a thousand messages a second each way, and
 * more messages to groups of a hundred people than a core of the service sends.
 */
const WANTED_PER_SECOND = 1_000
const WANTED_IN_GROUPS = 430
const TARGETS = { sessions: { atLeast: 1 }, give: { atLeast: 1 }, take: { atLeast: 1 }, take_group: { atLeast: 1 } }

type Host = Child<HostDesk>
type Prepared = { client: LightClient; stanzas: Uint8Array[] }
type Measured = { perSecond: number; cpuMs: number }

/** Rate and CPU of the simulator while something is being done `count` times. */
async function measure(host: Host, count: number, work: () => Promise<void>): Promise<Measured> {
  const before = await host.ask('report')
  const start = performance.now()
  await work()
  const seconds = (performance.now() - start) / 1_000
  const after = await host.ask('report')
  return { perSecond: count / seconds, cpuMs: (after.cpuMs - before.cpuMs) / count }
}

async function connectAll(url: string, keys: SessionKeys[]): Promise<LightClient[]> {
  const clients = keys.map((one) => ({ keys: one, client: undefined as LightClient | undefined }))
  const queue = [...clients]
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      next.client = new LightClient(url, next.keys)
      await next.client.login()
    }
  }
  await Promise.all(Array.from({ length: CONNECTING_AT_ONCE }, worker))
  return clients.flatMap(({ client }) => (client ? [client] : []))
}

async function until(what: string, isSo: () => Promise<boolean> | boolean, timeoutMs = 120_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

function give(host: Host): Promise<Measured> {
  return measure(host, GIVEN, async () => {
    await host.ask('give', GIVEN)
    await until('all messages confirmed', async () => (await host.ask('report')).confirmed >= GIVEN)
  })
}

/** Everything is sealed before the clock starts: what is measured is how fast the simulator takes it. */
async function take(host: Host, senders: LightClient[]): Promise<Measured> {
  const prepared = await Promise.all(
    senders.map(async (client, index) => {
      const person = `55118${String(index % PEOPLE).padStart(6, '0')}`
      await client.meet([person])
      return { client, stanzas: client.prepare(person, TAKEN_EACH) }
    }),
  )
  return measure(host, senders.length * TAKEN_EACH, () => sendAll(host, prepared, 1))
}

/** Messages to groups that everybody is in. The first of each group carries the sender key and is not measured. */
async function takeInGroups(host: Host, senders: LightClient[]): Promise<Measured> {
  const groups = await host.ask('found', senders.length)
  const prepared: Prepared[] = []
  for (const [index, facts] of groups.entries()) {
    const client = senders[index]
    if (client) prepared.push({ client, stanzas: await sealForGroup(client, facts, 1 + TAKEN_IN_EACH_GROUP) })
  }
  const part = (from: number, to?: number) =>
    prepared.map(({ client, stanzas }) => ({ client, stanzas: stanzas.slice(from, to) }))
  await sendAll(host, part(0, 1), PEOPLE)
  return measure(host, senders.length * TAKEN_IN_EACH_GROUP, () => sendAll(host, part(1), PEOPLE))
}

/** Until everything is acknowledged and each reader has decrypted it. */
async function sendAll(host: Host, prepared: readonly Prepared[], readers: number): Promise<void> {
  const { received } = await host.ask('report')
  const senders = prepared.map(({ client, stanzas }) => ({ client, due: client.acknowledged + stanzas.length }))
  const most = Math.max(...prepared.map(({ stanzas }) => stanzas.length))
  for (let index = 0; index < most; index++) {
    for (const { client, stanzas } of prepared) client.send(stanzas[index] ?? Buffer.alloc(0))
  }
  await until('all messages acknowledged', () => senders.every(({ client, due }) => client.acknowledged >= due))
  const wanted = received + prepared.length * most * readers
  await until('all messages decrypted', async () => (await host.ask('report')).received >= wanted)
}

/** How often the simulator could do it in a second of CPU, which a busy machine changes less than the clock on the wall. */
function capacity({ cpuMs }: Measured, wanted = WANTED_PER_SECOND): number {
  return 1_000 / cpuMs / wanted
}

export async function run(): Promise<BenchmarkResult> {
  await using host: Host = new Child<HostDesk>('./simulator-host.ts')
  const { url, keys } = await host.ask('open', { sessions: SESSIONS, people: PEOPLE })
  const idle = await host.ask('report')
  let clients: LightClient[] = []
  const connecting = await measure(host, SESSIONS, async () => {
    clients = await connectAll(url, keys)
  })
  const connected = await host.ask('report')
  const giving = await give(host)
  const taking = await take(host, clients.slice(0, SENDERS))
  const inGroups = await takeInGroups(host, clients.slice(0, GROUPS))
  const { problems, undecryptable } = await host.ask('report')
  for (const client of clients) client.close()
  if (undecryptable > 0) problems.push(`${undecryptable} messages could not be decrypted`)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const figures = {
    sessions_connected: connected.online,
    connections_per_second: connecting.perSecond,
    rss_kb_per_session: ((connected.rssMb - idle.rssMb) * 1_024) / SESSIONS,
    give_messages_per_second: giving.perSecond,
    give_cpu_ms_per_message: giving.cpuMs,
    take_messages_per_second: taking.perSecond,
    take_cpu_ms_per_message: taking.cpuMs,
    take_group_messages_per_second: inGroups.perSecond,
    take_group_cpu_ms_per_message: inGroups.cpuMs,
  }
  const ratios = {
    sessions: connected.online / SESSIONS,
    give: capacity(giving),
    take: capacity(taking),
    take_group: capacity(inGroups, WANTED_IN_GROUPS),
  }
  return { figures: rounded(figures), ratios: rounded(ratios), targets: TARGETS }
}

function rounded(values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, round(value, 4)]))
}

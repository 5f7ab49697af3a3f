// How many sessions the simulator holds and how many messages a second it takes and gives, its clients in another process.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { round, type BenchmarkResult } from './benchmark.ts'
import { LightClient } from './simulator-client.ts'
import type { HostReport, HostRequest, SessionKeys } from './simulator-host.ts'

const SESSIONS = 1_000
const PEOPLE = 50
const GIVEN = 10_000
const SENDERS = 100
const TAKEN_EACH = 100
const CONNECTING_AT_ONCE = 20
const POLL_MS = 25

/** What later benchmarks need of one core of the simulator: a thousand sessions and a thousand messages a second each way. */
const WANTED_PER_SECOND = 1_000
const TARGETS = { sessions: { atLeast: 1 }, give: { atLeast: 1 }, take: { atLeast: 1 } }

class Host {
  readonly #process: ChildProcess = fork(new URL('./simulator-host.ts', import.meta.url))

  async ask<T>(request: HostRequest): Promise<T> {
    const reply = once(this.#process, 'message')
    this.#process.send(request)
    const [message] = (await reply) as [{ answer?: T; error?: string }]
    if (message.answer === undefined) throw new Error(message.error ?? 'the simulator did not answer')
    return message.answer
  }

  report(): Promise<HostReport> {
    return this.ask({ do: 'report' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#process, 'exit')
    this.#process.kill()
    await gone
  }
}

type Measured = { perSecond: number; cpuMs: number }

/** Rate and CPU of the simulator while something is being done `count` times. */
async function measure(host: Host, count: number, work: () => Promise<void>): Promise<Measured> {
  const before = await host.report()
  const start = performance.now()
  await work()
  const seconds = (performance.now() - start) / 1_000
  const after = await host.report()
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
    await host.ask({ do: 'give', messages: GIVEN })
    await until('all messages confirmed', async () => (await host.report()).confirmed >= GIVEN)
  })
}

/** Everything is sealed before the clock starts: what is measured is how fast the simulator takes it. */
async function take(host: Host, senders: LightClient[]): Promise<Measured> {
  const prepared = await Promise.all(
    senders.map(async (client, index) => ({
      client,
      stanzas: await client.prepare(`55118${String(index % PEOPLE).padStart(6, '0')}`, TAKEN_EACH),
    })),
  )
  const total = senders.length * TAKEN_EACH
  return measure(host, total, async () => {
    for (let index = 0; index < TAKEN_EACH; index++) {
      for (const { client, stanzas } of prepared) client.send(stanzas[index] ?? Buffer.alloc(0))
    }
    await until('all messages acknowledged', () => senders.every((client) => client.acknowledged === TAKEN_EACH))
    await until('all messages decrypted', async () => (await host.report()).received >= total)
  })
}

/** How often the simulator could do it in a second of CPU, which a busy machine changes less than the clock on the wall. */
function capacity({ cpuMs }: Measured): number {
  return 1_000 / cpuMs / WANTED_PER_SECOND
}

export async function run(): Promise<BenchmarkResult> {
  await using host = new Host()
  const { url, keys } = await host.ask<{ url: string; keys: SessionKeys[] }>({
    do: 'open',
    sessions: SESSIONS,
    people: PEOPLE,
  })
  const idle = await host.report()
  let clients: LightClient[] = []
  const connecting = await measure(host, SESSIONS, async () => {
    clients = await connectAll(url, keys)
  })
  const connected = await host.report()
  const giving = await give(host)
  const taking = await take(host, clients.slice(0, SENDERS))
  const { problems, undecryptable } = await host.report()
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
  }
  const ratios = { sessions: connected.online / SESSIONS, give: capacity(giving), take: capacity(taking) }
  return { figures: rounded(figures), ratios: rounded(ratios), targets: TARGETS }
}

function rounded(values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, round(value, 4)]))
}

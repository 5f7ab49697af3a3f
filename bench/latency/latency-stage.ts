// The service between the simulated network, the simulated helpdesk and its callbacks, each in a process of its own.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child } from '../child.ts'
import { instanceName, isReady, numbersOf, serviceEnvironment, until } from '../flow.ts'
import type { OursDesk } from '../instances-ours.ts'
import { fillDatabase, fillPostgres, parseCredentials } from '../instances-seed.ts'
import type { Credentials } from '../instances-seed.ts'
import { BenchPostgres } from '../postgres.ts'
import type { CallbackDesk, Chat } from './callback-side.ts'
import type { HelpdeskDesk } from './helpdesk-side.ts'
import type { NetworkDesk } from './network-side.ts'

export type LatencyStage = {
  service: Child<OursDesk>
  network: Child<NetworkDesk>
  helpdesk: Child<HelpdeskDesk>
  callbacks: Child<CallbackDesk>
  instances: number
  /** Neighbours in the list are of different accounts. */
  chats: Chat[]
  place: { accountId: number; inboxId: number }
}

/**
 * The simulated network keeps what people receive. With the usual sizes of its heap, a collection stopped it for 60 to 110 ms or
 * took a core from the service for 200 ms, and every message waited for that. With these sizes the collections of young objects are
 * short. V8 does not collect the whole heap during a benchmark of the usual length.
 */
const quietCollections = ['--max-semi-space-size=4', '--initial-heap-size=1500']

/** With whom each account writes. */
const people = 10

/** Everything goes with the stack. Resolves when all accounts are online. */
export async function openLatencyStage(stack: AsyncDisposableStack, instances: number): Promise<LatencyStage> {
  const network = stack.use(new Child<NetworkDesk>('./latency/network-side.ts', {}, quietCollections))
  const helpdesk = stack.use(new Child<HelpdeskDesk>('./latency/helpdesk-side.ts'))
  const callbacks = stack.use(new Child<CallbackDesk>('./latency/callback-side.ts'))
  const linked = await network.ask('link', { numbers: numbersOf(instances).ours, people })
  const accounts = linked.map(({ credentials }) => parseCredentials(credentials, 30))
  const facts = { ...(await network.ask('facts')), helpdesk: await helpdesk.ask('facts') }
  const settings = { ...serviceEnvironment(facts, await newDatabase(stack, accounts)), SERVICE_DRAIN_RATE: '0' }
  const service = stack.use(new Child<OursDesk>('./instances-ours.ts', settings))
  const url = await service.ask('start')
  await until('all accounts are online', async () => (await network.ask('online')) === instances * people)
  await until('the service is ready', () => isReady(url))
  const webhookOf = (index: number) => `${url}/api/instances/${instanceName(index)}/webhook`
  const chats = Array.from({ length: people }, (_, n) =>
    linked.map(({ people: own }, index) => ({ webhook: webhookOf(index), person: own[n] ?? '' })),
  ).flat()
  const place = { accountId: facts.helpdesk.account_id, inboxId: facts.helpdesk.inbox_id }
  return { service, network, helpdesk, callbacks, instances, chats, place }
}

/** On SQLite, or on a PostgreSQL that waits for the disk. Returns its address. */
async function newDatabase(stack: AsyncDisposableStack, accounts: readonly Credentials[]): Promise<string> {
  if (process.env['BENCH_ENGINE'] === 'postgres') {
    const url = await stack.use(await BenchPostgres.start()).newDatabase()
    await fillPostgres(url, accounts)
    return url
  }
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const file = join(directory, 'service.db')
  await fillDatabase(file, accounts)
  return `file:${file}`
}

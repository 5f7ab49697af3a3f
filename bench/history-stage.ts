// The service between phones that send their history and a helpdesk, and the imports of what they send.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Child } from './child.ts'
import { numbersOf, serviceEnvironment, until } from './flow.ts'
import type { PastPlan } from './history-past.ts'
import type { SimDesk } from './history-sim.ts'
import type { OursDesk } from './instances-ours.ts'
import { fillDatabase, parseCredentials } from './instances-seed.ts'

type JobBody = {
  id: string
  status: string
  started_at: string | null
  ended_at: string | null
  error: string | null
  result: { posted: number } | null
}
type Imported = { posted: number; seconds: number }

const pollMs = 200
const longestMs = 300_000

export class HistoryStage {
  readonly sim: Child<SimDesk>
  readonly ours: Child<OursDesk>
  readonly numbers: readonly string[]
  readonly #url: string
  /** The jobs of earlier histories. */
  readonly #known = new Set<string>()

  private constructor(sim: Child<SimDesk>, ours: Child<OursDesk>, url: string, numbers: readonly string[]) {
    this.sim = sim
    this.ours = ours
    this.numbers = numbers
    this.#url = url
  }

  /** Every account imports what its phone sends. */
  static async open(
    stack: AsyncDisposableStack,
    accounts: number,
    environment: Record<string, string> = {},
  ): Promise<HistoryStage> {
    const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
    stack.defer(() => rm(directory, { recursive: true, force: true }))
    const sim = stack.use(new Child<SimDesk>('./history-sim.ts'))
    const facts = await sim.ask('facts')
    const [database, trusted] = [join(directory, 'service.db'), join(directory, 'ca.pem')]
    await writeFile(trusted, facts.certificate)
    const { ours: numbers } = numbersOf(accounts)
    const credentials = (await sim.ask('link', numbers)).map((text) => parseCredentials(text, 30))
    await fillDatabase(database, credentials, { isHistoryEnabled: true, historyDays: 30 })
    const ours = stack.use(
      new Child<OursDesk>('./instances-ours.ts', {
        ...serviceEnvironment(facts, `file:${database}`),
        SERVICE_NETWORK_CA: trusted,
        SERVICE_HISTORY_IMPORT_ENABLED: 'true',
        ...environment,
      }),
    )
    const url = await ours.ask('start')
    await until('every account is online', async () => (await sim.ask('online', numbers)) === accounts)
    return new HistoryStage(sim, ours, url, numbers)
  }

  /** Every phone sends a history of so many such pieces. The phones take turns. */
  async send(plan: PastPlan, pieces = 1): Promise<void> {
    for (let piece = 1; piece <= pieces; piece++) {
      for (const number of this.numbers) await this.sim.ask('sendPast', { number, plan, piece, pieces })
    }
  }

  /** Resolves when everything that the phones send is imported. */
  async import(plan: PastPlan): Promise<Imported> {
    await this.send(plan)
    const jobs = await this.#jobs('ended_at')
    const posted = jobs.reduce((sum, { result }) => sum + (result?.posted ?? 0), 0)
    const expected = plan.chats * plan.messages * this.numbers.length
    const errors = jobs.flatMap(({ error }) => error ?? [])
    if (posted !== expected) throw new Error(`${posted} of ${expected} messages were imported ${errors.join(', ')}`)
    const began = Math.min(...jobs.map(({ started_at: at }) => Date.parse(at ?? '')))
    const ended = Math.max(...jobs.map(({ ended_at: at }) => Date.parse(at ?? '')))
    return { posted, seconds: (ended - began) / 1000 }
  }

  /** Resolves when everything that the phones have sent is stored. Its import is cancelled. */
  async stored(): Promise<void> {
    for (const { id } of await this.#jobs('started_at')) {
      await (await fetch(`${this.#url}/api/jobs/${id}`, { method: 'DELETE' })).arrayBuffer()
    }
  }

  async assertNoProblems(): Promise<void> {
    const problems = await this.sim.ask('problems')
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }

  /** Resolves with the new job of each account, when all of them have this time. */
  async #jobs(time: 'started_at' | 'ended_at'): Promise<JobBody[]> {
    const deadline = performance.now() + longestMs
    for (;;) {
      const all = (await (await fetch(`${this.#url}/api/jobs`)).json()) as JobBody[]
      const jobs = all.filter((job) => !this.#known.has(job.id))
      if (jobs.length === this.numbers.length && jobs.every((job) => job[time] !== null)) {
        for (const { id } of jobs) this.#known.add(id)
        return jobs
      }
      if (performance.now() > deadline) throw new Error(`the imports do not end: ${JSON.stringify(jobs)}`)
      await sleep(pollMs)
    }
  }
}

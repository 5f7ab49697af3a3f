// Writes that come while a commit is under way share the next one: they wait for the disk of PostgreSQL once, and cost two
// statements less each. One that fails does not undo the others.

import type { QueryResult } from 'pg'
import type { Clock } from '../../lib/clock.ts'
import type { Attempt, Query } from './postgres-pool.ts'
import type { Row } from './statement.ts'
import { StorageError } from './statement.ts'

/** Its first query checks a hold. Equal checks run once in a commit, because the row stays locked until the end. */
export type HeldWrite = readonly [fence: Query, ...steps: Query[]]
export type Results = QueryResult<Row>[]
type Waiting = { write: HeldWrite; answer: PromiseWithResolvers<Results> }

type Deps = {
  /** Commits all queries or none. No query takes longer than some time. */
  together: (queries: readonly Query[]) => Promise<Attempt>
  /** Commits one write, and repeats it if the server has undone it. */
  alone: (queries: readonly Query[]) => Promise<Results>
  clock: Pick<Clock, 'after'>
}

const mostTogether = 64
/** A commit that takes longer does not hold up the next one. */
const slowMs = 200
/** After so many failures the other writes are made alone, too. */
const mostFailures = 3

export class SharedCommits {
  readonly #deps: Deps
  #waiting: Waiting[] = []
  /** Whether a commit is under way that is not slow. */
  #isBusy = false
  readonly #underWay = new Set<Promise<void>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  write(write: HeldWrite): Promise<Results> {
    const answer = Promise.withResolvers<Results>()
    this.#waiting.push({ write, answer })
    this.#next()
    return answer.promise
  }

  /** Resolves when every write has its answer. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  #next(): void {
    if (this.#isBusy || this.#waiting.length === 0) return
    this.#isBusy = true
    const batch = this.#waiting.splice(0, mostTogether)
    let isOver = false
    const goOn = () => {
      if (isOver) return
      isOver = true
      this.#isBusy = false
      this.#next()
    }
    const cancel = this.#deps.clock.after(slowMs, goOn)
    const work = this.#commit(batch).finally(() => {
      cancel()
      this.#underWay.delete(work)
      goOn()
    })
    this.#underWay.add(work)
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    const alone: Promise<void>[] = []
    let rest = batch
    for (let failures = 0; rest.length > 1 && failures < mostFailures; failures++) {
      const refused = await this.#commitTogether(rest)
      alone.push(...rest.filter((each) => refused.has(each)).map((each) => this.#commitAlone(each)))
      rest = refused.size === 0 ? [] : rest.filter((each) => !refused.has(each))
    }
    await Promise.all([...alone, ...rest.map((each) => this.#commitAlone(each))])
  }

  /** Returns the writes that undid the commit; none when all have their answers. */
  async #commitTogether(batch: readonly Waiting[]): Promise<ReadonlySet<Waiting>> {
    try {
      const { queries, placesOf } = merge(batch.map(({ write }) => write))
      const made = await this.#deps.together(queries)
      if (made.results) {
        for (const [index, { answer }] of batch.entries()) answer.resolve(pick(made.results, placesOf[index] ?? []))
        return new Set()
      }
      if (!made.isUndone) throw made.error
      const { failedAt = -1 } = made
      const refused = batch.filter((_, index) => placesOf[index]?.includes(failedAt))
      return new Set(refused.length > 0 ? refused : batch)
    } catch (cause) {
      // Whether they are stored is unknown, and the error may be the one of another write.
      const message = cause instanceof Error ? cause.message : String(cause)
      for (const { answer } of batch) answer.reject(new StorageError('unavailable', message, { cause }))
      return new Set()
    }
  }

  #commitAlone({ write, answer }: Waiting): Promise<void> {
    return this.#deps.alone(write).then(answer.resolve, answer.reject)
  }
}

/** The queries of all writes, and where those of each write are. */
function merge(writes: readonly HeldWrite[]): { queries: Query[]; placesOf: number[][] } {
  const queries: Query[] = []
  const fences = new Map<string, number>()
  const add = (query: Query) => queries.push(query) - 1
  const addFence = (fence: Query) => {
    const key = JSON.stringify([fence.sql, ...fence.values])
    const place = fences.get(key) ?? add(fence)
    fences.set(key, place)
    return place
  }
  const placesOf = writes.map(([fence, ...steps]) => [addFence(fence), ...steps.map(add)])
  return { queries, placesOf }
}

function pick(results: Results, places: readonly number[]): Results {
  return places.flatMap((place) => results[place] ?? [])
}

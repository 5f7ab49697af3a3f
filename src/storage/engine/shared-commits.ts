// Writes that come while a commit is under way share the next one: they wait for the disk of PostgreSQL once, and cost two
// statements less each. One that fails does not undo the others.

import type { QueryResult } from 'pg'
import type { Clock } from '../../lib/clock.ts'
import type { Attempt, Query } from './postgres-pool.ts'
import type { Row } from './statement.ts'

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
/** If so many writes in turn have failed, the others are made alone, too. */
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
    while (rest.length > 1 && alone.length < mostFailures) {
      const refused = await this.#commitTogether(rest)
      if (!refused) {
        await Promise.all(alone)
        return
      }
      alone.push(this.#commitAlone(refused))
      rest = rest.filter((each) => each !== refused)
    }
    await Promise.all([...alone, ...rest.map((each) => this.#commitAlone(each))])
  }

  /** Returns a write that undid the commit; undefined when all have their answers. */
  async #commitTogether(batch: readonly Waiting[]): Promise<Waiting | undefined> {
    const { queries, placesOf } = merge(batch.map(({ write }) => write))
    try {
      const made = await this.#deps.together(queries)
      if (made.results) {
        for (const [index, { answer }] of batch.entries()) answer.resolve(pick(made.results, placesOf[index] ?? []))
        return undefined
      }
      if (made.isUndone) return batch[placesOf.findIndex((places) => places.includes(made.failedAt ?? 0))] ?? batch[0]
      throw made.error
    } catch (error) {
      // Whether they are stored is unknown.
      for (const { answer } of batch) answer.reject(error)
      return undefined
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

// Writes that come while a commit is under way share the next one: they wait for the disk of PostgreSQL once, and cost two
// statements less each. One that fails does not undo the others.

import type { QueryResult } from 'pg'
import type { Clock } from '../../lib/clock.ts'
import { isUndone } from './postgres-pool.ts'
import type { Query } from './postgres-pool.ts'
import type { Row } from './statement.ts'

/** Its first query checks a hold. Equal checks run once in a commit, because the row stays locked until the end. */
export type HeldWrite = readonly [fence: Query, ...steps: Query[]]
export type Results = QueryResult<Row>[]
type Waiting = { write: HeldWrite; answer: PromiseWithResolvers<Results> }

type Deps = {
  /** Commits all queries or none, and waits for no lock longer than `lockMs`. */
  together: (queries: readonly Query[], lockMs: number) => Promise<Results>
  /** Commits one write, and repeats it if the server has undone it. */
  alone: (queries: readonly Query[]) => Promise<Results>
  clock: Pick<Clock, 'after'>
}

const mostTogether = 64
/** A write that waits for a lock does not hold up later ones for longer. */
const slowMs = 200
/** Then the writes of a commit are repeated one by one, and only the one that needs the lock goes on waiting. */
const lockMs = 1000

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
    const { together, alone } = this.#deps
    const [first, ...others] = batch
    if (first && others.length > 0) {
      try {
        const { queries, placesOf } = merge(batch.map(({ write }) => write))
        const results = await together(queries, lockMs)
        for (const [index, { answer }] of batch.entries()) answer.resolve(pick(results, placesOf[index] ?? []))
        return
      } catch (error) {
        // Whether it was committed is unknown. All other failures have undone everything.
        if (!isUndone(error)) {
          for (const { answer } of batch) answer.reject(error)
          return
        }
      }
    }
    await Promise.all(batch.map(({ write, answer }) => alone(write).then(answer.resolve, answer.reject)))
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

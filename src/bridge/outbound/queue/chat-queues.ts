// The queue of one instance: a line of row ids per chat, of which only the first is worked on.
//
// A line is resting (its first row waits for a connection or a time) or running (its first row is being worked on).
// resting → running when somebody is pushed, when it is woken, or when the time of its first row has come.

import type { Clock } from '../../../lib/clock.ts'

/** done: take the next · a time: rest until then · 'woken': rest until somebody wakes the line. */
export type StepOutcome = 'done' | 'woken' | { until: number }

type Line = { ids: string[]; isRunning: boolean; isWoken: boolean; cancelTimer?: () => void }

type Deps = {
  clock: Clock
  step: (id: string, signal: AbortSignal) => Promise<StepOutcome>
  /** These will not be worked on for a while. */
  onResting: (ids: readonly string[]) => void
}

export class InstanceLanes {
  readonly #deps: Deps
  readonly #lines = new Map<string, Line>()
  /** The chat in whose line a row is; its own may have become another since. */
  readonly #chats = new Map<string, string>()
  readonly #stop = new AbortController()
  #running = new Set<Promise<void>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** How many rows wait or are under way. */
  get size(): number {
    return this.#chats.size
  }

  /** How many chats have rows that wait or are under way. */
  get lines(): number {
    return this.#lines.size
  }

  /** How many rows the longest of these lines has. */
  get longest(): number {
    let longest = 0
    for (const { ids } of this.#lines.values()) longest = Math.max(longest, ids.length)
    return longest
  }

  /** Whether a row that is pushed now is worked on at once when its line is started. */
  isFree(chat: string): boolean {
    return !this.#lines.has(chat) && !this.#stop.signal.aborted
  }

  /** False when the row is in a line already. */
  push(chat: string, id: string): boolean {
    if (this.#chats.has(id)) return false
    const line = this.#lines.get(chat) ?? { ids: [], isRunning: false, isWoken: false }
    this.#lines.set(chat, line)
    this.#chats.set(id, chat)
    line.ids.push(id)
    return true
  }

  /** Somebody else has settled the row. The first of a line finds that out by itself. */
  drop(id: string): void {
    const chat = this.#chats.get(id)
    const line = chat === undefined ? undefined : this.#lines.get(chat)
    if (chat === undefined || !line) return
    if (line.ids[0] === id) {
      this.start(chat)
      return
    }
    line.ids.splice(line.ids.indexOf(id), 1)
    this.#chats.delete(id)
  }

  /** Every line that rests looks again. */
  wake(): void {
    for (const chat of [...this.#lines.keys()]) this.start(chat)
  }

  start(chat: string): void {
    const line = this.#lines.get(chat)
    if (!line || this.#stop.signal.aborted) return
    line.cancelTimer?.()
    line.isWoken = true
    if (line.isRunning) return
    const running = this.#run(chat, line).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Ends what is under way; nothing is taken up any more. */
  async close(): Promise<void> {
    this.#stop.abort()
    for (const { cancelTimer } of this.#lines.values()) cancelTimer?.()
    await Promise.all(this.#running)
  }

  async #run(chat: string, line: Line): Promise<void> {
    line.isRunning = true
    let outcome: StepOutcome = 'done'
    while (line.isWoken && !this.#stop.signal.aborted) {
      line.isWoken = false
      outcome = await this.#workOff(line)
    }
    line.isRunning = false
    if (line.ids.length === 0) this.#lines.delete(chat)
    else if (typeof outcome === 'object') this.#startAt(chat, line, outcome.until)
  }

  /** Until a row has to wait, or none is left. */
  async #workOff(line: Line): Promise<StepOutcome> {
    const { signal } = this.#stop
    for (let id = line.ids[0]; id !== undefined; id = line.ids[0]) {
      const outcome = await this.#deps.step(id, signal)
      if (outcome !== 'done') {
        this.#deps.onResting(line.ids)
        return outcome
      }
      line.ids.shift()
      this.#chats.delete(id)
      if (signal.aborted) break
    }
    return 'done'
  }

  #startAt(chat: string, line: Line, time: number): void {
    const { clock } = this.#deps
    if (this.#stop.signal.aborted) return
    line.cancelTimer = clock.after(Math.max(0, time - clock.now()), () => {
      this.start(chat)
    })
  }
}

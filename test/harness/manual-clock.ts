// A clock that stands still until a test moves it.

import type { Clock } from '../../src/lib/clock.ts'
import { waitUntil } from './wait-until.ts'

type Timer = { at: number; order: number; work: () => void }

export class ManualClock implements Clock {
  #now: number
  #elapsed = 0
  #order = 0
  #timers: Timer[] = []

  constructor(start: number = Date.UTC(2026, 0, 15, 12)) {
    this.#now = start
  }

  now(): number {
    return this.#now + this.#elapsed
  }

  monotonic(): number {
    return this.#elapsed
  }

  after(ms: number, work: () => void): () => void {
    const timer = { at: this.#elapsed + ms, order: this.#order++, work }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer)
    }
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.length
  }

  /** The clock on the wall is set to another time. No time passes. */
  set(byMs: number): void {
    this.#now += byMs
  }

  /** Time passes and no timer runs, as in a process that was stopped. The timers that fell due run at the next advance. */
  freeze(ms: number): void {
    this.#elapsed += ms
  }

  /** Moves time; timers that fall due run in order, each with a turn of the event loop to settle. */
  async advance(ms: number): Promise<void> {
    const target = this.#elapsed + ms
    await turn()
    for (let due = this.#nextDue(target); due; due = this.#nextDue(target)) {
      this.#elapsed = Math.max(this.#elapsed, due.at)
      this.#timers = this.#timers.filter((each) => each !== due)
      due.work()
      await turn()
    }
    this.#elapsed = target
  }

  /** Time passes in steps until the promise has settled. What it waits for may set its timers later. */
  async advanceUntil<T>(settling: Promise<T>, stepMs = 500): Promise<T> {
    let isSettled = false
    const note = () => {
      isSettled = true
    }
    settling.then(note, note)
    await waitUntil('the promise has settled', async () => {
      await this.advance(stepMs)
      return isSettled
    })
    return settling
  }

  #nextDue(target: number): Timer | undefined {
    return this.#timers
      .filter((timer) => timer.at <= target)
      .sort((a, b) => a.at - b.at || a.order - b.order)
      .at(0)
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

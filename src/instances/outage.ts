// Whether subscribers believe an account to be up or down, and when to tell them otherwise.
//
// up      → down when its session drops, or is not ready in time after a start
// down    → told to be unreachable once, when it has been down for the first grace
// down    → up when it has been ready again for the second grace
// There is one timer, however often the session drops; what was told survives a restart in the record.

import type { EventExtras, LifecycleEvent } from '../core/lifecycle.ts'
import type { Clock } from '../lib/clock.ts'
import type { InstanceChanges, InstanceRow } from '../storage/schema.ts'

export type Graces = { unreachableMs: number; reconnectedMs: number }

type Deps = {
  clock: Clock
  graces: Graces
  row: () => Readonly<InstanceRow>
  save: (changes: InstanceChanges) => void
  announce: (event: LifecycleEvent, extras: EventExtras) => void
}

const notInTime = (ms: number) => `the session was not ready within ${Math.round(ms / 1000)} s`

export class Outage {
  readonly #deps: Deps
  #cancel: () => void = () => undefined
  #why: EventExtras = { reason: null, code: null }

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Subscribers are being told that the session dropped. */
  began(why: EventExtras): void {
    const { clock, graces, row, save } = this.#deps
    this.#why = why
    if (row().down_since === null) save({ down_since: clock.now() })
    this.#wait(graces.unreachableMs, this.#stillDown.bind(this))
  }

  /** A session is being opened without anybody having been told that it was closed: at a start, or a restart. */
  watch(): void {
    const { clock, graces, row, announce } = this.#deps
    const since = clock.now()
    this.#wait(graces.unreachableMs, () => {
      if (row().down_since === null) {
        this.#why = { reason: row().last_error ?? notInTime(graces.unreachableMs), code: null }
        this.#deps.save({ down_since: since })
        announce('disconnected', this.#why)
      }
      this.#stillDown()
    })
  }

  ready(): void {
    const { clock, graces, save, announce, row } = this.#deps
    const { down_since } = row()
    const downMs = clock.now() - (down_since ?? 0)
    this.#cancel()
    if (down_since === null) return
    this.#wait(graces.reconnectedMs, () => {
      save({ down_since: null, unreachable_at: null })
      announce('reconnected', { downtime_seconds: Math.round(downMs / 1000) })
    })
  }

  /** There is no session any more, or another one: what was told of it is over. */
  forget(): void {
    const { row, save } = this.#deps
    this.stop()
    if (row().down_since !== null) save({ down_since: null, unreachable_at: null })
  }

  stop(): void {
    this.#cancel()
  }

  #stillDown(): void {
    const { clock, row, save, announce } = this.#deps
    if (row().unreachable_at !== null) return
    save({ unreachable_at: clock.now() })
    announce('unreachable', this.#why)
  }

  #wait(ms: number, work: () => void): void {
    this.#cancel()
    this.#cancel = this.#deps.clock.after(ms, work)
  }
}

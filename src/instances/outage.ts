// Decides when subscribers hear that an account is down, unreachable or back.
//
// up      → down when its session drops, or is not ready in time after a start
// down    → announced as unreachable once, when it has been down for the first grace
// down    → up when it has been ready again for the second grace
// There is one timer for any number of drops. The record stores what was announced, for the next process.

import type { EventExtras, LifecycleEvent } from '../core/lifecycle/lifecycle.ts'
import { writeReason } from '../core/reasons/reason.ts'
import type { Clock } from '../lib/clock.ts'
import type { InstanceChanges, InstanceRow } from '../storage/stores/accounts/instance-rows.ts'

export type Graces = { unreachableMs: number; reconnectedMs: number }

type Deps = {
  clock: Clock
  graces: Graces
  row: () => Readonly<InstanceRow>
  /** Why the account is not connected, without advice for the operator. */
  lastReason: () => string | null
  save: (changes: InstanceChanges) => void
  announce: (event: LifecycleEvent, extras: EventExtras) => void
}

const notInTime = (ms: number) => writeReason('notReady', { seconds: Math.round(ms / 1000) })

export class Outage {
  readonly #deps: Deps
  #cancel: () => void = () => undefined
  #why: EventExtras = { reason: null, code: null }

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The drop of the session is being announced. */
  began(why: EventExtras): void {
    const { clock, graces, row, save } = this.#deps
    this.#why = why
    if (row().downSince === null) save({ downSince: clock.now() })
    this.#wait(graces.unreachableMs, this.#stillDown.bind(this))
  }

  /** A session is being opened whose end was not announced: at a start, or a restart. */
  watch(): void {
    const { clock, graces, row, lastReason, announce } = this.#deps
    const since = clock.now()
    this.#wait(graces.unreachableMs, () => {
      this.#why = { reason: lastReason() ?? notInTime(graces.unreachableMs), code: null }
      if (row().downSince === null) {
        this.#deps.save({ downSince: since })
        announce('disconnected', this.#why)
      }
      this.#stillDown()
    })
  }

  ready(): void {
    const { clock, graces, save, announce, row } = this.#deps
    const { downSince } = row()
    // The time of the drop is in the future if the clock was put back since.
    const downMs = Math.max(0, clock.now() - (downSince ?? 0))
    this.#cancel()
    if (downSince === null) return
    this.#wait(graces.reconnectedMs, () => {
      save({ downSince: null, unreachableAt: null })
      announce('reconnected', { downtime_seconds: Math.round(downMs / 1000) })
    })
  }

  /** There is no session any more, or another one: the outage is over without an announcement. */
  forget(): void {
    const { row, save } = this.#deps
    this.stop()
    if (row().downSince !== null) save({ downSince: null, unreachableAt: null })
  }

  stop(): void {
    this.#cancel()
  }

  #stillDown(): void {
    const { clock, row, save, announce } = this.#deps
    if (row().unreachableAt !== null) return
    save({ unreachableAt: clock.now() })
    announce('unreachable', this.#why)
  }

  #wait(ms: number, work: () => void): void {
    this.#cancel()
    this.#cancel = this.#deps.clock.after(ms, work)
  }
}

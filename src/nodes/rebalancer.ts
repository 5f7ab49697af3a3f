// Carries out placement: once a second, beside the beat and never inside it.
//
// Two nodes that do this at once do no harm: each change is guarded by the row that it changes.

import type { InstanceName } from '../core/ids.ts'
import type { NodeId } from '../core/nodes/hold.ts'
import type { AssignmentTable, SeenNode } from '../core/nodes/node.ts'
import type { Peers } from '../core/nodes/peers.ts'
import type { Activity, PlacementPlan, PlacementView } from '../core/nodes/placement.ts'
import type { Clock } from '../lib/clock.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import type { Log } from '../lib/log.ts'
import { Ticker } from '../lib/ticker.ts'
import { LookSchedule } from './look-schedule.ts'
import type { BeatView } from './look-schedule.ts'
import { planPlacement } from './placement/plan-placement.ts'

type Deps = {
  assignments: Pick<AssignmentTable, 'all' | 'moves' | 'place' | 'wish' | 'dropWish' | 'quarantine'>
  peers: Pick<Peers, 'look'>
  /** Undefined while this process is no node, or while its beats fail. */
  view: () => BeatView | undefined
  /** This node reads what it holds now. */
  lookHere: () => void
  /** What the instances do. It is read only when some of them are to move. */
  activities: () => Promise<ReadonlyMap<InstanceName, Activity>>
  /** Resolves when the cell has joined. Undefined where none can be started. */
  startCell: (() => Promise<void>) | undefined
  /** On which the times of assignments and moves are: the clock of the database. */
  clock: Clock
  log: Log
}

const everyMs = 1_000
/** Longer than an instance rests after a wish. */
const rememberMs = 15 * 60_000
const cellPauseMs = 10_000

export class Rebalancer {
  readonly #deps: Deps
  readonly #schedule = new LookSchedule()
  readonly #asked = new Map<InstanceName, number>()
  readonly #ticker: Ticker
  #noCellBefore = -Infinity

  constructor(deps: Deps) {
    this.#deps = deps
    const { clock, log } = deps
    this.#ticker = new Ticker({ name: 'rebalancer', everyMs, work: () => this.#work(), clock, log })
  }

  start(): void {
    this.#ticker.start()
  }

  /** Does now what is due. */
  tick(): Promise<void> {
    return this.#ticker.tick()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ticker[Symbol.asyncDispose]()
  }

  async #work(): Promise<void> {
    const view = this.#deps.view()
    if (view === undefined) return
    const duty = this.#schedule.note(view, this.#deps.clock.now())
    if (duty === 'none') return
    const plan = await this.#plan(view)
    const isBusy = [plan.place, plan.wish, plan.drop, plan.quarantine].some((part) => part.length > 0)
    this.#schedule.noteLook(view.nodes, this.#deps.clock.now(), isBusy)
    if (isBusy) this.#deps.log.info(countsOf(plan), 'instances are placed')
    await this.#place(plan, view)
    if (duty === 'plan') await this.#carryOut(plan, view)
  }

  async #plan({ nodes }: BeatView): Promise<PlacementPlan> {
    const { assignments, activities, clock, startCell } = this.#deps
    const [all, moves] = await Promise.all([assignments.all(), assignments.moves()])
    const now = clock.now()
    for (const [instance, askedAt] of this.#asked) if (now - askedAt > rememberMs) this.#asked.delete(instance)
    const view: PlacementView = {
      ...{ now, nodes, assignments: all, moves, changedAt: this.#schedule.changedAt, asked: this.#asked },
      ...{ activityOf: () => undefined, hasCells: startCell !== undefined },
    }
    const plan = planPlacement(view)
    if (plan.wish.length === 0) return plan
    const known = await activities()
    return planPlacement({ ...view, activityOf: (instance) => known.get(instance) })
  }

  async #place({ place }: PlacementPlan, view: BeatView): Promise<void> {
    if (place.length === 0) return
    const placed = await this.#deps.assignments.place(place, this.#deps.clock.now())
    this.#tell(
      view,
      placed.flatMap(({ node }) => node ?? []),
    )
  }

  async #carryOut({ wish, drop, quarantine, startCell }: PlacementPlan, view: BeatView): Promise<void> {
    const { assignments, clock, log } = this.#deps
    for (const each of quarantine) {
      const isDone = await assignments.quarantine(each, clock.now())
      if (isDone)
        log.error({ instance: each.instance }, 'an instance kills its nodes, so no node opens it until it is restarted')
    }
    if (startCell) this.#startCell()
    for (const instance of drop) await assignments.dropWish(instance)
    // Also when the answer is lost: the wish may be there.
    for (const { instance, askedAt } of wish) this.#asked.set(instance, askedAt)
    if (wish.length === 0) return
    await assignments.wish(wish)
    this.#tell(
      view,
      wish.map(({ from }) => from),
    )
  }

  /** Only to be quick: they read it with their next beat anyhow. */
  #tell({ id, nodes }: BeatView, concerned: readonly NodeId[]): void {
    const ids = new Set(concerned)
    if (ids.has(id)) this.#deps.lookHere()
    const peers = nodes.filter((node: SeenNode) => node.id !== id && ids.has(node.id))
    for (const { id: peer, address } of peers) void this.#deps.peers.look({ id: peer, address }).catch(ignoreRejection)
  }

  /** One at a time, and not again at once when it does not join. */
  #startCell(): void {
    const { clock, log, startCell } = this.#deps
    if (startCell === undefined || clock.now() < this.#noCellBefore) return
    this.#noCellBefore = Infinity
    const pause = () => (this.#noCellBefore = clock.now() + cellPauseMs)
    startCell().then(
      () => (this.#noCellBefore = -Infinity),
      (err: unknown) => {
        pause()
        log.error({ err }, 'a cell for suspect instances could not be started')
      },
    )
  }
}

function countsOf({ place, wish, drop, quarantine }: PlacementPlan) {
  return { placed: place.length, moving: wish.length, dropped: drop.length, quarantined: quarantine.length }
}

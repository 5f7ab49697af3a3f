// Carries out placement: once a second, beside the beat and never inside it.
//
// Two nodes that do this at once do no harm: each change is guarded by the row that it changes.

import type { InstanceName } from '../core/ids.ts'
import type { NodeId } from '../core/nodes/hold.ts'
import type { Assignment, AssignmentTable, Move, SeenNode } from '../core/nodes/node.ts'
import type { Peers } from '../core/nodes/peers.ts'
import type { Activity, PlacementPlan, PlacementView } from '../core/nodes/placement.ts'
import type { Clock } from '../lib/clock.ts'
import { ignoreRejection } from '../lib/ignore.ts'
import type { Log } from '../lib/log.ts'
import { Ticker } from '../lib/ticker.ts'
import type { CellStarter } from './cells/cell-starter.ts'
import { LookSchedule } from './look-schedule.ts'
import type { BeatView, Duty } from './look-schedule.ts'
import { planPlacement } from './placement/plan-placement.ts'
import { isWithin } from './placement/within.ts'

type Deps = {
  assignments: Pick<AssignmentTable, 'all' | 'deathTimes' | 'moves' | 'place' | 'wish' | 'dropWish' | 'quarantine'>
  peers: Pick<Peers, 'look'>
  /** Undefined while this process is no node, or while its beats fail. */
  view: () => BeatView | undefined
  /** Every instance that was free has a node now. The next beat shows it, which is half a second later. */
  onAllPlaced: (view: BeatView) => void
  /** This node reads what it holds now. */
  lookHere: () => void
  /** What the instances do. It is read only when some of them are to move or to go into quarantine. */
  activities: () => Promise<ReadonlyMap<InstanceName, Activity>>
  /** Null where no cell can be started. */
  cells: Pick<CellStarter, 'isPossible' | 'start'> | null
  /** On which the times of assignments and moves are: the clock of the database. */
  clock: Clock
  log: Log
}

const everyMs = 1_000
/** Longer than an instance rests after a wish. */
const rememberMs = 15 * 60_000

export class Rebalancer {
  readonly #deps: Deps
  readonly #schedule = new LookSchedule()
  readonly #asked = new Map<InstanceName, number>()
  readonly #ticker: Ticker

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
    const duty = this.#schedule.note(view, this.#deps.clock.monotonic())
    if (duty === 'none') return
    const moves = await this.#deps.assignments.moves()
    const all = await this.#deps.assignments.all()
    const plan = dutiesOf(duty, await this.#plan(view, moves, all))
    const isChange = [plan.place, plan.wish, plan.drop, plan.quarantine].some((part) => part.length > 0)
    this.#schedule.noteLook(view.nodes, this.#deps.clock.monotonic(), isChange || moves.length > 0)
    if (isChange) this.#deps.log.info(countsOf(plan), 'instances are placed')
    await this.#place(plan, view, all)
    await this.#carryOut(plan, view)
  }

  async #plan({ nodes }: BeatView, moves: readonly Move[], all: readonly Assignment[]): Promise<PlacementPlan> {
    const { clock, cells } = this.#deps
    const now = clock.now()
    const changedAt = now - this.#schedule.quietFor(clock.monotonic())
    for (const [instance, askedAt] of this.#asked) if (!isWithin(rememberMs, askedAt, now)) this.#asked.delete(instance)
    const view: PlacementView = {
      ...{ now, nodes, assignments: all, moves, changedAt, asked: this.#asked },
      ...{ activityOf: () => undefined, deathTimes: [], hasCells: cells?.isPossible ?? false },
    }
    return this.#refine(planPlacement(view), view)
  }

  /** Few plans need to know what the instances do and which nodes died, so it is read only for those. */
  async #refine(plan: PlacementPlan, view: PlacementView): Promise<PlacementPlan> {
    const { assignments, activities } = this.#deps
    const { wish, quarantine } = plan
    if (wish.length === 0 && quarantine.length === 0) return plan
    const deathTimes = quarantine.length > 0 ? await assignments.deathTimes() : []
    const known = await activities()
    return planPlacement({ ...view, deathTimes, activityOf: (instance) => known.get(instance) })
  }

  async #place({ place }: PlacementPlan, view: BeatView, all: readonly Assignment[]): Promise<void> {
    if (place.length === 0) return
    const placed = await this.#deps.assignments.place(place, this.#deps.clock.now())
    const free = all.filter(({ node, quarantinedAt }) => node === null && quarantinedAt === null)
    if (placed.length === free.length) this.#deps.onAllPlaced(view)
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
    if (startCell) this.#deps.cells?.start()
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
}

function dutiesOf(duty: Duty, plan: PlacementPlan): PlacementPlan {
  return duty === 'plan' ? plan : { place: plan.place, wish: [], drop: [], quarantine: [], startCell: false }
}

function countsOf({ place, wish, drop, quarantine }: PlacementPlan) {
  return { placed: place.length, moving: wish.length, dropped: drop.length, quarantined: quarantine.length }
}

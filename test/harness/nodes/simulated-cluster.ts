// A cluster in steps of half a second: nodes die of the instances that kill them, the others bury them and carry out plans.

import type { Assignment, Move, SeenNode } from '../../../src/core/nodes/node.ts'
import type { PlacementPlan } from '../../../src/core/nodes/placement.ts'
import { inherit, planPlacement } from '../../../src/nodes/placement/plan-placement.ts'
import { assignment, minute, noon, seenNode, viewOf } from './placement-views.ts'

type Options = {
  realNodes: number
  instances: number
  /** How long after it was opened an instance kills its node, by instance. */
  killers: ReadonlyMap<string, number>
  hasCells?: boolean
}

const stepMs = 500
const patienceMs = 4_500
const restartMs = 3_000
const cellStartMs = 2_000

export class SimulatedCluster {
  readonly #options: Options
  readonly #assignments = new Map<string, Assignment>()
  readonly #asked = new Map<string, number>()
  #nodes: SeenNode[] = []
  #moves: Move[] = []
  #unburied: { node: SeenNode; diedAt: number }[] = []
  #joining: { node: SeenNode; at: number }[] = []
  #now = noon
  #changedAt = noon
  #ids = 0
  realDeaths = 0
  cellDeaths = 0

  constructor(options: Options) {
    this.#options = options
    for (let count = 0; count < options.realNodes; count++) this.#join(100, 0)
    for (let index = 0; index < options.instances; index++) {
      this.#assignments.set(`i${index}`, assignment(`i${index}`, null, { since: noon }))
    }
  }

  run(ms: number): void {
    for (const end = this.#now + ms; this.#now < end; this.#now += stepMs) {
      this.#admit()
      this.#kill()
      this.#bury()
      this.#fulfil()
      if (this.#now % 1000 === 0) this.#carryOut()
    }
  }

  get quarantined(): string[] {
    return this.#rows(({ quarantinedAt }) => quarantinedAt !== null)
  }

  /** Instances that a node holds which is no cell. */
  get atRealNodes(): string[] {
    const real = new Set(this.#nodes.filter(({ capacity }) => capacity > 0).map(({ id }) => id))
    return this.#rows(({ node }) => node !== null && real.has(node))
  }

  get running(): string[] {
    return this.#rows(({ node }) => this.#nodes.some(({ id }) => id === node))
  }

  #rows(isWanted: (row: Assignment) => boolean): string[] {
    return [...this.#assignments.values()].filter(isWanted).map(({ instance }) => instance)
  }

  #join(capacity: number, afterMs: number): void {
    // Ids are random in the service, so the order of joining does not show in them.
    const id = `${(this.#ids * 7) % 10}-${this.#ids++}`
    this.#joining.push({ node: seenNode(id, { capacity, joinedAt: this.#now }), at: this.#now + afterMs })
  }

  #admit(): void {
    for (const { node } of this.#joining.filter(({ at }) => at <= this.#now)) {
      this.#nodes.push(node)
      this.#changedAt = this.#now
    }
    this.#joining = this.#joining.filter(({ at }) => at > this.#now)
  }

  #kill(): void {
    for (const [instance, delayMs] of this.#options.killers) {
      const row = this.#assignments.get(instance)
      const node = this.#nodes.find(({ id }) => id === row?.node)
      if (row === undefined || node === undefined || this.#now - row.since < delayMs) continue
      this.#nodes = this.#nodes.filter((each) => each !== node)
      this.#unburied.push({ node, diedAt: this.#now })
      if (node.capacity === 0) this.cellDeaths++
      else {
        this.realDeaths++
        this.#join(100, restartMs)
      }
    }
  }

  #bury(): void {
    for (let next = this.#unburied[0]; next && this.#now - next.diedAt >= patienceMs; next = this.#unburied[0]) {
      const { node } = next
      const heirs = new Map(inherit(node, this.#view()).map((placement) => [placement.instance, placement.node]))
      this.#unburied.shift()
      for (const row of [...this.#assignments.values()].filter((each) => each.node === node.id)) {
        const isSoon = row.crashedAt !== null && this.#now - row.crashedAt < 10 * minute
        const crashes = isSoon ? row.crashes + 1 : 1
        this.#change(row, { node: heirs.get(row.instance) ?? null, crashes, crashedAt: this.#now })
      }
      this.#changedAt = this.#now
    }
  }

  /** A hand-over takes one step. */
  #fulfil(): void {
    for (const { instance, from, to } of this.#moves) {
      const row = this.#assignments.get(instance)
      const lives = (node: string) => this.#nodes.some(({ id }) => id === node)
      if (row?.node === from && lives(from)) this.#change(row, { node: lives(to) ? to : null })
    }
    this.#moves = []
  }

  #carryOut(): void {
    if (!this.#nodes.some(({ capacity }) => capacity > 0)) return
    const { place, wish, quarantine, startCell }: PlacementPlan = planPlacement(this.#view())
    for (const { instance, node } of place) {
      const row = this.#assignments.get(instance)
      if (row?.node === null) this.#change(row, { node })
    }
    for (const row of quarantine) this.#change(row, { quarantinedAt: this.#now })
    for (const { instance } of wish) this.#asked.set(instance, this.#now)
    this.#moves.push(...wish)
    const isStarting = this.#joining.some(({ node }) => node.capacity === 0)
    if (startCell && !isStarting) this.#join(0, cellStartMs)
  }

  #change(row: Assignment, change: Partial<Assignment>): void {
    this.#assignments.set(row.instance, { ...row, epoch: row.epoch + 1, since: this.#now, ...change })
  }

  /** Dead nodes are seen as living until they are buried. */
  #view() {
    return viewOf({
      ...{ now: this.#now, nodes: [...this.#nodes, ...this.#unburied.map(({ node }) => node)], moves: this.#moves },
      ...{ assignments: [...this.#assignments.values()], changedAt: this.#changedAt, asked: this.#asked },
      hasCells: this.#options.hasCells ?? true,
    })
  }
}

// The tables of nodes and assignments in memory, with the guards of the real ones. Each call is one commit.

import type { NodeId } from '../../../src/core/nodes/hold.ts'
import type { Assignment, AssignmentTable, Move, NodeTable, Placement, SeenNode } from '../../../src/core/nodes/node.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import type { NodeTables } from './node-tables.ts'

const crashMemoryMs = 600_000

/** The calls of a table, each done at once. */
type Commits<T> = {
  [Name in keyof T]: T[Name] extends (...values: infer V) => Promise<infer R> ? (...values: V) => R : never
}

type Row = SeenNode & { endedAt: number | null; isBuried: boolean }

export class MemoryTables implements NodeTables {
  readonly #clock: Clock
  #nodes = new Map<NodeId, Row>()
  readonly #versions = new Map<NodeId, number>()
  readonly #rows = new Map<string, Assignment>()
  readonly #moves = new Map<string, Move>()
  #epoch = 0
  #settings = 1
  #clockOffset = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  readonly nodes = commits<NodeTable>({
    join: (node, now) => {
      if (this.#nodes.has(node.id)) throw new Error('this id exists')
      this.#nodes.set(node.id, { ...node, state: 'active', beat: 0, joinedAt: now, endedAt: null, isBuried: false })
      this.#versions.set(node.id, 0)
    },
    beat: (id) => {
      const own = this.#living().find((node) => node.id === id)
      if (own) own.beat++
      return {
        mine: own?.beat ?? null,
        version: this.#versions.get(id) ?? 0,
        settings: this.#settings,
        protocol: 1,
        now: this.#clock.now() + this.#clockOffset,
        free: this.#free().length,
        nodes: this.#living().map((node) => ({ ...node })),
      }
    },
    bury: ({ id, beat }, placements, now) => {
      const dead = this.#living().find((node) => node.id === id)
      if (dead?.beat !== beat) return false
      this.#end(dead, now, placements, true)
      return true
    },
    drain: (id) => {
      const node = this.#living().find((each) => each.id === id)
      if (node) node.state = 'draining'
    },
    end: (id, now) => {
      const node = this.#living().find((each) => each.id === id)
      if (node) this.#end(node, now, [], false)
    },
    setCapacity: (id, capacity) => {
      const node = this.#nodes.get(id)
      if (node) node.capacity = capacity
    },
    prune: (before) => {
      for (const [id, { endedAt }] of this.#nodes) if (endedAt !== null && endedAt < before) this.#nodes.delete(id)
    },
  })

  readonly assignments = commits<AssignmentTable>({
    heldBy: (node) => this.#copies((row) => row.node === node),
    free: () => this.#free(),
    all: () => this.#copies(() => true),
    find: (instance) => this.#copies((row) => row.instance === instance)[0],
    deathTimes: () =>
      [...this.#nodes.values()].filter(({ isBuried }) => isBuried).flatMap(({ endedAt }) => endedAt ?? []),
    moves: () => [...this.#moves.values()].map((move) => ({ ...move })),
    place: (placements, now) => {
      const free = new Set(this.#free().map(({ instance }) => instance))
      const placed = placements.filter(({ instance }) => free.has(instance))
      for (const { instance, node } of placed) this.#give(instance, node, now)
      return this.#copies(({ instance }) => placed.some((each) => each.instance === instance))
    },
    wish: (moves) => {
      for (const move of moves.filter(({ instance }) => !this.#moves.has(instance))) {
        this.#moves.set(move.instance, move)
        this.#raise(move.from)
      }
    },
    dropWish: (instance) => {
      this.#moves.delete(instance)
    },
    handOver: (hold, to, now) => {
      if (!this.#isCurrent(hold)) return undefined
      const isActive = this.#nodes.get(to)?.state === 'active'
      this.#give(hold.instance, isActive ? to : null, now)
      return this.#copies((row) => row.instance === hold.instance)[0]
    },
    quarantine: (hold, now) => {
      if (!this.#isCurrent(hold)) return false
      this.#give(hold.instance, null, now)
      this.#change(hold.instance, { quarantinedAt: now })
      return true
    },
    release: (instance, node, now) => {
      if (!this.#rows.has(instance)) return undefined
      this.#change(instance, { quarantinedAt: null, crashes: 0, crashedAt: null })
      this.#give(instance, node, now)
      return this.#copies((row) => row.instance === instance)[0]
    },
  })

  addInstance(instance: string): Promise<void> {
    const empty = { crashes: 0, crashedAt: null, quarantinedAt: null }
    this.#rows.set(instance, { instance, node: null, epoch: ++this.#epoch, since: this.#clock.now(), ...empty })
    return Promise.resolve()
  }

  changeSettings(): Promise<void> {
    this.#settings++
    return Promise.resolve()
  }

  stepClock(byMs: number): Promise<void> {
    this.#clockOffset += byMs
    return Promise.resolve()
  }

  copyNodes(): Promise<() => Promise<void>> {
    const copy = new Map([...this.#nodes].map(([id, node]) => [id, { ...node }]))
    const setBack = () => {
      this.#nodes = copy
      return Promise.resolve()
    }
    return Promise.resolve(setBack)
  }

  #living(): Row[] {
    return [...this.#nodes.values()]
      .filter(({ state }) => state !== 'dead')
      .sort((one, other) => (one.id < other.id ? -1 : 1))
  }

  #free(): Assignment[] {
    return this.#copies(({ node, quarantinedAt }) => node === null && quarantinedAt === null)
  }

  #copies(isMeant: (row: Assignment) => boolean): Assignment[] {
    return [...this.#rows.values()].filter(isMeant).map((row) => ({ ...row }))
  }

  #isCurrent({ instance, node, epoch }: Pick<Assignment, 'instance' | 'node' | 'epoch'>): boolean {
    const row = this.#rows.get(instance)
    return row?.node === node && row.epoch === epoch
  }

  #end(node: Row, now: number, placements: readonly Placement[], isCrash: boolean): void {
    node.state = 'dead'
    node.endedAt = now
    node.isBuried = isCrash
    for (const { instance, crashes, crashedAt } of this.#copies((row) => row.node === node.id)) {
      this.#give(instance, placements.find((each) => each.instance === instance)?.node ?? null, now)
      const before = crashedAt !== null && now - crashedAt < crashMemoryMs ? crashes : 0
      if (isCrash) this.#change(instance, { crashes: before + 1, crashedAt: now })
    }
  }

  #give(instance: string, node: NodeId | null, now: number): void {
    this.#change(instance, { node, epoch: ++this.#epoch, since: now })
    this.#moves.delete(instance)
    if (node !== null) this.#raise(node)
  }

  #change(instance: string, changes: Partial<Assignment>): void {
    const row = this.#rows.get(instance)
    if (row) Object.assign(row, changes)
  }

  #raise(node: NodeId): void {
    this.#versions.set(node, (this.#versions.get(node) ?? 0) + 1)
  }
}

/** A commit that throws is a rejection. */
function commits<T extends object>(table: Commits<T>): T {
  const calls = Object.entries(table as Record<string, (...values: unknown[]) => unknown>)
  const commit =
    (work: (...values: unknown[]) => unknown) =>
    (...values: unknown[]) =>
      Promise.resolve().then(() => work(...values))
  return Object.fromEntries(calls.map(([name, work]) => [name, commit(work)])) as T
}

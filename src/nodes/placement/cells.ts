// What happens to suspects: they go to a cell, and the one that kills it is found there.
//
// Suspects go to a cell ten at a time. When the cell dies, those that were in it are accused. Half of the accused with the
// most deaths go to an empty cell. If they kill it, half of them go to the next one, until one is alone in a cell that dies:
// that one goes into quarantine, and its death explains those of the others. If they do not kill it for a while, the next
// half has its turn. The while doubles with every death, so that an instance that kills late is found too.

import type { Assignment, Move, Placement, SeenNode } from '../../core/nodes/node.ts'
import type { PlacementPlan, PlacementView } from '../../core/nodes/placement.ts'
import type { Cluster } from './cluster.ts'
import { findKiller, findLastQuarantine, isAccused, isSuspect, isVerdictDue } from './suspects.ts'
import { isWithin } from './within.ts'

type CellPlan = Pick<PlacementPlan, 'place' | 'wish' | 'quarantine' | 'startCell'>

const batchSize = 10
const batchEveryMs = 2_000
/** A cell connects an instance within a second or two; one that is busy takes longer. */
const firstTrialMs = 10_000
const longestTrialMs = 120_000

/** One for a trial, one for all other suspects. */
const mostCells = 2

export function planCells(view: PlacementView, cluster: Cluster): CellPlan {
  if (!view.hasCells) return { place: [], wish: [], quarantine: [], startCell: false }
  const lastQuarantineAt = findLastQuarantine(view.assignments)
  const suspects = cluster.free.filter((each) => isSuspect(each, view.now))
  const [accused, others] = partition(suspects, (each) => isAccused(each, lastQuarantineAt))
  const killer = findKiller(accused, view)
  const waiting = accused.filter((each) => each !== killer)
  const trial = killer === undefined ? planTrial(view, cluster, waiting, lastQuarantineAt) : noTrial
  const shared = cluster.cells.filter(
    (cell) => cell !== trial.cell && !isOnTrial(view, cluster, cell, lastQuarantineAt),
  )
  const batch = planBatch(view, cluster, others, shared)
  const isWaitingForCell = waiting.length > 0 || (others.length > 0 && shared.length === 0)
  return {
    place: [...trial.place, ...batch],
    wish: trial.wish,
    quarantine: killer !== undefined && isVerdictDue(killer, view.now) ? [killer] : [],
    startCell: isWaitingForCell && cluster.cells.length < mostCells,
  }
}

type Trial = { cell?: SeenNode; place: Placement[]; wish: Move[] }

const noTrial: Trial = { place: [], wish: [] }

/** One trial at a time: two cells that die together would prove nothing. */
function planTrial(
  view: PlacementView,
  cluster: Cluster,
  waiting: readonly Assignment[],
  lastQuarantineAt: number,
): Trial {
  const isRunning = cluster.cells.some((cell) => isOnTrial(view, cluster, cell, lastQuarantineAt))
  if (waiting.length === 0 || isRunning) return noTrial
  const cell = cluster.cells.find(({ id }) => {
    return cluster.heldBy(id).length === 0 && view.moves.every(({ to }) => to !== id)
  })
  if (cell === undefined) return { place: [], wish: emptyOneCell(view, cluster) }
  const most = Math.max(...waiting.map(({ crashes }) => crashes))
  const worst = waiting.filter(({ crashes }) => crashes === most)
  const half = worst.slice(0, Math.ceil(worst.length / 2))
  return { cell, place: half.map(({ instance }) => ({ instance, node: cell.id })), wish: [] }
}

/** Moves what one of two cells holds to the other one: of the cell with fewer pinned instances, then of the emptier one. */
function emptyOneCell(view: PlacementView, cluster: Cluster): Move[] {
  const isPinned = ({ instance }: Assignment) => view.activityOf(instance)?.isPinned ?? false
  const pinsOf = ({ id }: SeenNode) => cluster.heldBy(id).filter(isPinned).length
  const [from, to] = [...cluster.cells].sort((one, other) => {
    return pinsOf(one) - pinsOf(other) || cluster.countOf(one.id) - cluster.countOf(other.id)
  })
  if (from === undefined || to === undefined) return []
  const movable = cluster.heldBy(from.id).filter((each) => !isPinned(each))
  return movable.map(({ instance }) => ({ instance, from: from.id, to: to.id, askedAt: view.now }))
}

/** A cell is on trial while it holds only accused that came a short time ago. */
function isOnTrial(view: PlacementView, cluster: Cluster, cell: SeenNode, lastQuarantineAt: number): boolean {
  const held = cluster.heldBy(cell.id)
  return held.length > 0 && held.every((each) => isAccused(each, lastQuarantineAt) && isStillTried(each, view.now))
}

function isStillTried({ since, crashes }: Assignment, now: number): boolean {
  return isWithin(Math.min(longestTrialMs, firstTrialMs * 2 ** (crashes - 3)), since, now)
}

/** Ten suspects go to the fullest of these cells, unless others came to it just now. */
function planBatch(
  view: PlacementView,
  cluster: Cluster,
  suspects: readonly Assignment[],
  cells: readonly SeenNode[],
): Placement[] {
  const [cell] = [...cells].sort((one, other) => cluster.countOf(other.id) - cluster.countOf(one.id))
  if (cell === undefined || cluster.heldBy(cell.id).some(({ since }) => isWithin(batchEveryMs, since, view.now)))
    return []
  return suspects.slice(0, batchSize).map(({ instance }) => ({ instance, node: cell.id }))
}

function partition<T>(all: readonly T[], isFirst: (each: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((each) => !isFirst(each))]
}

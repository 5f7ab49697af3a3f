// Rounds of faults over several processes under traffic: nothing is lost, doubled, out of order or unreadable.
// `npm run nodes:rounds -- --rounds 200 --seed any` runs many of them, `--cells` with cells for the suspects.

import { test } from 'node:test'
import { SeededRandom } from '../../../sim/network/seeded-random.ts'
import { withoutPostgres } from '../../harness/databases.ts'
import { isLong, rounds } from '../../harness/rounds.ts'
import { ClusterStage } from './harness/cluster-stage.ts'
import { faultNames, strike } from './harness/rounds-of-faults.ts'
import type { FaultName } from './harness/rounds-of-faults.ts'

const seed = process.env['CHAOS_SEED'] ?? 'causeway'
const asked = Number(process.env['NODES_ROUNDS'] ?? 0)
const count = asked || rounds({ gate: 4, long: 25 })
/** The faults of the gate need neither a server of their own nor stepped clocks. */
const isWhole = isLong || asked > 0
/** Suspects go to cells. A fault strikes a cell with the node that started it. */
const hasCells = process.env['NODES_CELLS'] === '1'
const minutes = Math.max(5, count)

type Round = { fault: FaultName; ms: number; inCells: string[] }

/** Each kind once, then by chance. */
function nextFault(round: number, random: SeededRandom): FaultName {
  const at = round < faultNames.length ? round : random.below(faultNames.length)
  return faultNames[at] ?? 'kill'
}

async function tortured(stage: ClusterStage, onRound: (round: Round) => void): Promise<void> {
  const random = new SeededRandom(`${seed} rounds`)
  stage.traffic.start()
  for (let round = 0; round < count; round++) {
    const fault = nextFault(round, random)
    const since = performance.now()
    await strike(stage, fault, random)
    await stage.restore()
    onRound({ fault, ms: Math.round(performance.now() - since), inCells: await stage.inCells() })
    stage.assertNothingWrongYet(`after round ${round + 1}, ${fault}`)
  }
  await stage.assertNothingWrong()
}

const options = { skip: withoutPostgres, timeout: minutes * 60_000 }

test(`after ${count} rounds of faults nothing is wrong`, options, async (t) => {
  t.diagnostic(`seed ${seed}`)
  const size = isWhole ? { nodes: 3, accounts: 3 } : { nodes: 2, accounts: 2 }
  await using stage = await ClusterStage.open({
    ...size,
    hasOwnServer: isWhole,
    hasSteppedClocks: isWhole,
    hasCells,
    seed,
  })
  const done: Round[] = []
  try {
    await tortured(stage, (round) => {
      done.push(round)
      // The runner shows diagnostics at the end only.
      if (asked > 0) process.stdout.write(`round ${done.length} of ${count}: ${sayRound(round)}\n`)
    })
  } finally {
    const summary = { seed, rounds: done.length, ...stage.traffic.counts, faults: summaryOf(done) }
    t.diagnostic(JSON.stringify(summary))
  }
})

function sayRound({ fault, ms, inCells }: Round): string {
  return hasCells ? `${fault}, ${ms} ms, in cells: ${inCells.join(' ') || 'none'}` : `${fault}, ${ms} ms`
}

/** How often each fault struck, and how long it took at most until all was well again. */
function summaryOf(done: readonly Round[]): Record<string, { count: number; longestMs: number }> {
  const byFault = Map.groupBy(done, ({ fault }) => fault)
  return Object.fromEntries(
    [...byFault].map(([fault, each]) => [
      fault,
      { count: each.length, longestMs: Math.max(...each.map(({ ms }) => ms)) },
    ]),
  )
}

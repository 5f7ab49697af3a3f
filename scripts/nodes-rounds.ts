// Runs rounds of faults over three processes on one PostgreSQL: `npm run nodes:rounds -- --rounds 200 --seed any`. Prints the
// seed, each round, and a summary as JSON. The same seed gives the same faults. With `--cells` nodes start cells for suspects.

import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { runNodeTests } from './node-tests.ts'

const mostRounds = 1000

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string' },
    cells: { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds)
if (!Number.isInteger(rounds) || rounds < 1 || rounds > mostRounds) {
  console.error(`--rounds is a whole number from 1 to ${mostRounds}, not "${values.rounds}".`)
  process.exit(1)
}
const seed = values.seed ?? randomBytes(4).toString('hex')
const asked = { NODES_ROUNDS: String(rounds), CHAOS_SEED: seed, NODES_CELLS: values.cells ? '1' : '0' }
await runNodeTests({
  files: ['test/e2e/nodes/rounds.test.ts'],
  environment: { ...asked, TEST_LONG: '1', TEST_ENGINES: 'postgres' },
})

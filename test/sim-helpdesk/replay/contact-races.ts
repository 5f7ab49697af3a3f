// The recordings of contacts that several requests create in parallel.

import type { Answer } from '../harness/desk-client.ts'
import { asList, asObject } from '../harness/recordings.ts'
import type { Fields } from '../harness/recordings.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'

const raced = '5521997480799'

export const contactRaces: NonNullable<Plan['facts']> = {
  'identifier race, 5 in parallel': async (bench) => ({
    answers: inRecordedOrder(await race(bench, () => ({ name: 'R', identifier: 'race@lid' })), 0),
  }),
  'phone race, 5 in parallel': async (bench) => ({
    answers: inRecordedOrder(await race(bench, () => ({ name: 'R', phone_number: `+${raced}` })), 0),
  }),
  '5 contacts claim one source_id in parallel': async (bench) => {
    const inbox_id = bench.ids.actual('inbox', 11)
    const answers = await race(bench, (at) => ({ name: `C${at}`, inbox_id, source_id: 'raced' }))
    return { answers: inRecordedOrder(answers, 1) }
  },
}

function outcome({ status, body }: Answer): Fields {
  return { status, body: status === 200 ? 'created' : body }
}

/** Four requests race, and the fifth comes a moment later. */
async function race(bench: ReplayBench, bodyOf: (at: number) => object): Promise<unknown> {
  bench.helpdesk.configure({ raceMs: 200 })
  const answers = await Promise.all([0, 1, 2, 3].map((at) => bench.admin.post('/contacts', bodyOf(at))))
  answers.push(await bench.admin.post('/contacts', bodyOf(4)))
  bench.helpdesk.configure({ raceMs: 0 })
  return answers.map(outcome)
}

/** Which of the parallel requests wins is chance. The recorded position of the odd one out is taken over. */
function inRecordedOrder(answers: unknown, oddAt: number): unknown[] {
  const list = asList(answers).map(asObject)
  const count = (status: unknown) => list.filter((one) => one['status'] === status).length
  const odd = list.findIndex((one) => count(one['status']) === 1)
  if (odd < 0) return list
  const [found] = list.splice(odd, 1)
  list.splice(oddAt, 0, found ?? {})
  return list
}

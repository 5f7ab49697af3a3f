// Replays the recordings of one file in their order and collects every difference of the simulator.

import { readRecordings } from '../harness/recordings.ts'
import type { Recording } from '../harness/recordings.ts'
import { compare } from './compare.ts'
import type { Difference } from './compare.ts'
import { compareCallbacks, compareCallback } from './callbacks.ts'
import { rootTable, sendRecorded } from './send-recorded.ts'
import { ReplayBench } from './replay-bench.ts'

type Step = (bench: ReplayBench) => Promise<unknown>

/** The parts of a recording session that the recordings leave out. The keys are the texts of `what`. */
export type Plan = {
  /** Brings the helpdesk into the state that the recording needs. */
  before?: Record<string, Step>
  /** Makes a request that the recording only describes, for example one with a file. */
  requests?: Record<string, Step>
  /** Returns the same facts as a recording without a request. */
  facts?: Record<string, (bench: ReplayBench, recording: Recording) => Promise<unknown>>
}

export type Found = Difference & { what: string }

const stepMs = 2000

export async function replay(file: string, plan: Plan): Promise<Found[]> {
  await using bench = await ReplayBench.start()
  const found: Found[] = []
  for (const recording of readRecordings(file)) {
    // The recorder waited about two seconds between two requests.
    await bench.helpdesk.advance(stepMs)
    const differences = await replayOne(bench, plan, recording)
    found.push(...differences.map((one) => ({ what: recording.what, ...one })))
  }
  return found
}

async function replayOne(bench: ReplayBench, plan: Plan, recording: Recording): Promise<Difference[]> {
  const { what } = recording
  try {
    await setUp(bench, plan.before?.[what], recording.callbacks !== undefined)
    const fact = plan.facts?.[what]
    if (fact) return compareFact(bench, recording, await withoutTraces(bench, () => fact(bench, recording)))
    if (recording.callbacks) return compareCallbacks(bench, recording.callbacks)
    if (recording.request) return await compareAnswer(bench, recording, plan.requests?.[what])
    if (recording['body']) return compareCallback(bench, recording['body'])
    return [{ at: '', recorded: 'a fact', got: 'no step of the plan' }]
  } catch (error) {
    return [{ at: '', recorded: 'a replay', got: String(error) }]
  }
}

/** The callbacks of a set-up do not count, unless the recording shows exactly these. */
async function setUp(bench: ReplayBench, step: Step | undefined, showsCallbacks: boolean): Promise<void> {
  if (!step) return
  await bench.helpdesk.settled()
  if (showsCallbacks) bench.catcher.caught.clear()
  if (showsCallbacks) await step(bench)
  else await withoutTraces(bench, () => step(bench))
  await bench.helpdesk.settled()
}

/** Forgets the callbacks of this work. */
async function withoutTraces<T>({ catcher, helpdesk }: ReplayBench, work: () => Promise<T>): Promise<T> {
  const before = new Set(catcher.caught.entries)
  const result = await work()
  await helpdesk.settled()
  const kept = catcher.caught.entries.filter((one) => before.has(one))
  catcher.caught.clear()
  for (const one of kept) catcher.caught.add(one)
  return result
}

async function compareAnswer(bench: ReplayBench, recording: Recording, send?: Step): Promise<Difference[]> {
  const answer = await sendRecorded(bench, recording, send)
  await bench.helpdesk.settled()
  const wrong =
    answer.status === recording.status ? [] : [{ at: 'status', recorded: recording.status, got: answer.status }]
  if (wrong.length > 0) return [...wrong, { at: 'answer', recorded: recording.answer, got: answer.text.slice(0, 300) }]
  if (!('answer' in recording) || recording.answer === null) return []
  const got = typeof recording.answer === 'string' ? answer.text : answer.json
  return compare(recording.answer, got, bench.ids, rootTable(recording.request?.path ?? ''))
}

function compareFact(bench: ReplayBench, recording: Recording, got: unknown): Difference[] {
  const facts = Object.entries(recording).filter(([key]) => !['what', 'request', 'note'].includes(key))
  return compare(Object.fromEntries(facts), got, bench.ids, 'row')
}

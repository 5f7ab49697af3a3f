// Every step against every other one: one after the other, and the second one while the first one is not committed. At the end
// the cluster is as after one of the two orders.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { NodeScene } from '../harness/node-scene.ts'
import type { NodeStep } from '../harness/node-scene.ts'
import { NodeStage } from '../harness/node-stage.ts'

const steps = [
  'the placement of y at b',
  'the burial of a',
  'the burial of b',
  'the wish that a gives x to b',
  'the hand-over of x to b',
  'the drain of b',
  'the end of a',
  'the end of b',
  'the creation of n at b',
  'the removal of x',
  'the quarantine of x',
  'the release of q at b',
] as const satisfies readonly NodeStep[]

let scenes = 0
const newScene = (stage: NodeStage) => NodeScene.set(stage, `s${++scenes}`)

async function inTurn(stage: NodeStage, first: NodeStep, second: NodeStep): Promise<unknown> {
  const scene = await newScene(stage)
  const answers = [await scene.steps[first](), await scene.steps[second]()]
  return { answers, ...((await scene.outcome()) as object) }
}

/** Resolves when the step is over or waits for a lock behind `before` others. */
async function isUnderWay(stage: NodeStage, step: Promise<unknown>, before: number): Promise<void> {
  let isOver = false
  const over = () => (isOver = true)
  step.then(over, over)
  await waitUntil('the step waits or is over', async () => isOver || (await stage.bystander.waiting()) > before)
}

async function atOnce(stage: NodeStage, first: NodeStep, second: NodeStep): Promise<unknown> {
  const scene = await newScene(stage)
  await scene.holdVersions()
  const one = scene.steps[first]()
  await isUnderWay(stage, one, 0)
  const before = await stage.bystander.waiting()
  const other = scene.steps[second]()
  await isUnderWay(stage, other, before)
  await stage.locker.release()
  const answers = await Promise.all([one, other])
  return { answers, ...((await scene.outcome()) as object) }
}

const swapped = (outcome: unknown) => {
  const { answers, ...rest } = outcome as { answers: unknown[] }
  return { answers: answers.toReversed(), ...rest }
}

for (const first of steps) {
  test(`${first} meets every other step`, { skip: withoutPostgres }, async () => {
    await using stage = await NodeStage.open()
    for (const second of steps) {
      const orders = [await inTurn(stage, first, second), swapped(await inTurn(stage, second, first))]
      const found = await atOnce(stage, first, second)
      const isOneOfThem = orders.some((order) => isSame(order, found))
      if (!isOneOfThem) assert.deepEqual(found, orders[0], `${first}, then ${second}`)
    }
  })
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

// What can go wrong on a stage. Each function resolves when the fault has had its effect; restore() of the stage mends the rest.

import { setTimeout as pause } from 'node:timers/promises'
import type { ClusterStage } from './cluster-stage.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import * as databaseClock from './database-clock.ts'
import { patienceMs } from './node-set.ts'
import type { StageNode } from './stage-node.ts'

/** kill -9. */
export function kill(stage: ClusterStage, node: StageNode): Promise<void> {
  return stage.moving(node, () => node.end('SIGKILL'))
}

/** The process gives away what it holds, and ends. */
export function terminate(stage: ClusterStage, node: StageNode): Promise<void> {
  return stage.moving(node, () => node.end('SIGTERM'))
}

/** kill -9 of a process that is about to end, so that it may be in the middle of giving something away. */
export function killWhileEnding(stage: ClusterStage, node: StageNode, afterMs: number): Promise<void> {
  return stage.moving(node, async () => {
    node.process.send('SIGTERM')
    await pause(afterMs)
    await node.end('SIGKILL')
  })
}

/** The process stands still for longer than the others wait for it, and goes on. */
export async function stop(stage: ClusterStage, node: StageNode): Promise<void> {
  const stopped = () => {
    stage.excuseSecondSockets()
    node.stop()
  }
  await givenUp(stage, node, () => stage.moving(node, stopped, 'node'))
  node.continue()
  await lostTo(stage, node)
}

/** The process stands still for a shorter time than the others wait. Nothing moves. */
export async function stopBriefly(node: StageNode, ms: number): Promise<void> {
  node.stop()
  await pause(ms)
  node.continue()
}

/** The process stands still in the middle of a transaction, and sends the rest of it when it goes on. */
export async function stopInTransaction(stage: ClusterStage, node: StageNode): Promise<void> {
  const stopped = async () => {
    await node.toDatabase.holdAt('COMMIT')
    stage.excuseSecondSockets()
    node.stop()
  }
  await givenUp(stage, node, () => stage.moving(node, stopped, 'node'))
  node.continue()
  node.toDatabase.release()
  await lostTo(stage, node)
}

/** The process cannot reach PostgreSQL, until its instances have moved. */
export async function cut(stage: ClusterStage, node: StageNode): Promise<void> {
  const cutOff = () => {
    // A process that may have lost the lease keeps its connections until it knows.
    if (!stage.hasNodes) stage.excuseSecondSockets()
    node.toDatabase.cut()
  }
  await givenUp(stage, node, () => stage.moving(node, cutOff))
  node.toDatabase.heal()
  await lostTo(stage, node)
}

/** Other nodes cannot reach this one; PostgreSQL can. */
export async function cutFromPeers(node: StageNode, ms: number): Promise<void> {
  node.toPeers.cut()
  await pause(ms)
  node.toPeers.heal()
}

/** No node reaches PostgreSQL for this time. */
export function outage(stage: ClusterStage, ms: number): Promise<void> {
  return away(stage, async () => {
    const nodes = stage.nodes.living
    for (const { toDatabase } of nodes) toDatabase.cut()
    await pause(ms)
    for (const { toDatabase } of nodes) toDatabase.heal()
  })
}

/** No node reaches PostgreSQL or another node for this time. */
export function apart(stage: ClusterStage, ms: number): Promise<void> {
  return away(stage, async () => {
    const lines = stage.nodes.living.flatMap(({ toDatabase, toPeers }) => [toDatabase, toPeers])
    for (const line of lines) line.cut()
    await pause(ms)
    for (const line of lines) line.heal()
  })
}

/** PostgreSQL crashes and starts again after this time. The stage needs a server of its own. */
export function crash(stage: ClusterStage, ms: number): Promise<void> {
  const { server } = stage.parts
  if (!server) throw new Error('this stage has no PostgreSQL of its own')
  return away(stage, async () => {
    await server.crash()
    await pause(ms)
    await server.startAgain()
  })
}

/** The wall clock of the machine of one node is wrong for this time. */
export async function stepClock(node: StageNode, offsetMs: number, ms: number): Promise<void> {
  await node.stepClock(offsetMs)
  await pause(ms)
  await node.stepClock(0)
}

/** The clock of the machine of PostgreSQL is wrong for this time. */
export async function stepDatabaseClock({ parts }: ClusterStage, offsetMs: number, ms: number): Promise<void> {
  await databaseClock.stepDatabaseClock(parts.database, offsetMs)
  await pause(ms)
  await databaseClock.stepDatabaseClock(parts.database, 0)
}

/** Another node joins, so that one is too many; the node that was there first ends. */
export async function join(stage: ClusterStage): Promise<void> {
  const [first] = stage.nodes.living
  await stage.nodes.join()
  if (first) await terminate(stage, first)
}

/** PostgreSQL is away for all. Nodes keep what they hold. A lease may end meanwhile, and then any process may take it. */
async function away(stage: ClusterStage, happen: () => Promise<void>): Promise<void> {
  if (stage.hasNodes) {
    await happen()
    return
  }
  const before = await stage.ownerOf('n0')
  stage.excuseSecondSockets()
  await happen()
  if ((await stage.ownerOf('n0')) !== before) await lostTo(stage, before)
}

/** Lets a fault happen to a node, and waits until the others have given the node up, also when it held nothing. */
async function givenUp(stage: ClusterStage, node: StageNode, happen: () => Promise<void>): Promise<void> {
  const { owners } = stage.nodes
  const idNow = () => (stage.hasNodes ? owners.idOf(node) : undefined)
  const before = await idNow()
  await happen()
  const isOver = async () => !stage.hasNodes || (await idNow()) !== before
  await waitUntil('the others have given the node up', isOver, { timeoutMs: patienceMs })
}

/** A process that lost the lease ends. A node that lost its instances joins again. */
async function lostTo(stage: ClusterStage, node: StageNode): Promise<void> {
  if (!stage.hasNodes) await node.process.exited()
}

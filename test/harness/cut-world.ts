// A world whose service reaches PostgreSQL through a cutter.

import { AgentWorld } from './agent-world.ts'
import { CommitCutter } from './commit-cutter.ts'

export type CutWorld = AsyncDisposable & { world: AgentWorld; cutter: CommitCutter }

export async function openCut(): Promise<CutWorld> {
  await using stack = new AsyncDisposableStack()
  const world = await AgentWorld.open({ engine: 'postgres' })
  const cutter = stack.use(await CommitCutter.to(world.service.databasePath))
  stack.use(world)
  await world.restart({ DATABASE_URL: cutter.url })
  const owned = stack.move()
  return { world, cutter, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

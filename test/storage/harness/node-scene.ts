// A small cluster under names of its own, every step that changes it, and what is there afterwards.

import assert from 'node:assert/strict'
import type { Hold } from '../../../src/core/nodes/hold.ts'
import type { Statement } from '../../../src/storage/engine/statement.ts'
import { createAssignmentFence } from '../../../src/storage/stores/nodes/assignment-fence.ts'
import { assignmentInsert, assignmentRemoval } from '../../../src/storage/stores/nodes/assignment-steps.ts'
import { joinedAt } from './node-stage.ts'
import type { NodeStage } from './node-stage.ts'

const at = joinedAt + 60_000

/**
 * Node a holds x and w, and is asked to give w to b. Node b holds v. Node c holds nothing. No node holds y. The instance q is in
 * quarantine.
 */
export class NodeScene {
  readonly #stage: NodeStage
  readonly #prefix: string
  readonly #x: Hold

  private constructor(stage: NodeStage, prefix: string, x: Hold) {
    this.#stage = stage
    this.#prefix = prefix
    this.#x = x
  }

  static async set(stage: NodeStage, prefix: string): Promise<NodeScene> {
    const id = (name: string) => `${prefix}.${name}`
    for (const node of ['a', 'b', 'c']) await stage.join(id(node))
    const x = await stage.create(id('x'), id('a'))
    await stage.create(id('w'), id('a'))
    await stage.create(id('v'), id('b'))
    await stage.createFree(id('y'))
    await stage.assignments.quarantine(await stage.create(id('q'), id('a')), at)
    await stage.assignments.wish([{ instance: id('w'), from: id('a'), to: id('b'), askedAt: at }])
    return new NodeScene(stage, prefix, x)
  }

  /** Each returns whether it was made. */
  readonly steps = {
    'the placement of y at b': async () => (await this.#assignments.place([this.#placed('y', 'b')], at)).length === 1,
    'the burial of a': () => this.#bury('a', this.#placed('x', 'b'), this.#placed('w', 'c')),
    'the burial of b': () => this.#bury('b', this.#placed('v', 'c')),
    'the wish that a gives x to b': async () => {
      await this.#assignments.wish([{ instance: this.#id('x'), from: this.#id('a'), to: this.#id('b'), askedAt: at }])
      return null
    },
    'the hand-over of x to b': async () =>
      (await this.#assignments.handOver(this.#x, this.#id('b'), at))?.node === this.#id('b'),
    'the drain of b': async () => {
      await this.#stage.nodes.drain(this.#id('b'))
      return null
    },
    'the end of a': async () => {
      await this.#stage.nodes.end(this.#id('a'), at)
      return null
    },
    'the end of b': async () => {
      await this.#stage.nodes.end(this.#id('b'), at)
      return null
    },
    'the creation of n at b': () =>
      this.#isMade(assignmentInsert(this.#stage.database, this.#id('n'), this.#id('b'), at)),
    'the removal of x': () => {
      const { database } = this.#stage
      return this.#isMade([createAssignmentFence(database)(this.#x), ...assignmentRemoval(database, this.#id('x'))])
    },
    'the quarantine of x': () => this.#assignments.quarantine(this.#x, at),
    'the release of q at b': async () =>
      (await this.#assignments.release(this.#id('q'), this.#id('b'), at)) !== undefined,
  }

  /** A change that has done its part waits for these rows at its end. */
  async holdVersions(): Promise<void> {
    const ids = ['a', 'b', 'c'].map((node) => this.#id(node))
    await this.#stage.locker.hold('SELECT 1 FROM node_versions WHERE node = ANY($1) FOR UPDATE', [ids])
  }

  /** Without the prefix, the epochs and the versions of dead nodes. */
  async outcome(): Promise<unknown> {
    const isOwn = (name: string) => name.startsWith(`${this.#prefix}.`)
    const short = (name: string) => name.slice(this.#prefix.length + 1)
    const states = Object.entries(await this.#stage.states()).filter(([id]) => isOwn(id))
    const isLiving = (id: string) => states.some(([node, state]) => node === id && state !== 'dead')
    const assignments = (await this.#assignments.all()).filter(({ instance }) => isOwn(instance))
    const moves = (await this.#assignments.moves()).filter(({ instance }) => isOwn(instance))
    const versions = Object.entries(await this.#stage.versions()).filter(([id]) => isOwn(id) && isLiving(id))
    for (const { node } of assignments) assert.ok(node === null || isLiving(node), 'a dead node holds nothing')
    return {
      states: states.map(([id, state]) => `${short(id)} ${state}`).sort(),
      assignments: assignments.map(({ instance, node, crashes, quarantinedAt }) =>
        [short(instance), node && short(node), crashes, quarantinedAt].join(' '),
      ),
      moves: moves.map(({ instance, from, to }) => [instance, from, to].map(short).join(' ')),
      versions: versions.map(([id, version]) => `${short(id)} ${version}`).sort(),
    }
  }

  get #assignments() {
    return this.#stage.assignments
  }

  #id(name: string): string {
    return `${this.#prefix}.${name}`
  }

  #placed(instance: string, node: string) {
    return { instance: this.#id(instance), node: this.#id(node) }
  }

  #bury(node: string, ...placements: { instance: string; node: string }[]): Promise<boolean> {
    return this.#stage.nodes.bury({ id: this.#id(node), beat: 0 }, placements, at)
  }

  /** The last statement waits for holdVersions(), as other changes do. */
  async #isMade(statements: readonly Statement[]): Promise<boolean> {
    const { database } = this.#stage
    const version = database.query.selectFrom('node_versions').select('node').where('node', '=', this.#id('c'))
    try {
      await database.write(...statements, version.forUpdate())
      return true
    } catch (error) {
      const { failure } = error as { failure?: unknown }
      assert.ok(failure === 'expectation' || failure === 'constraint', String(error))
      return false
    }
  }
}

export type NodeStep = keyof NodeScene['steps']

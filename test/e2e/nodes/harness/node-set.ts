// The processes of a stage: those that run, which of them holds what, and how many there are to be.

import { waitUntil } from '../../../harness/wait-until.ts'
import { Owners } from './owners.ts'
import { StageNode } from './stage-node.ts'
import type { NodeOptions } from './stage-node.ts'

/** A busy machine needs long for a start, a take-over, and for what waited meanwhile. */
export const patienceMs = 180_000

/** What a fault strikes: the cells of a node end with it, but go on while it stands still. */
export type Struck = 'node' | 'node and cells'

export class NodeSet {
  readonly owners: Owners
  readonly #options: NodeOptions
  readonly #size: number
  readonly #launched: StageNode[] = []

  constructor(options: NodeOptions, size: number) {
    this.owners = new Owners(options.databaseUrl)
    this.#options = options
    this.#size = size
  }

  get living(): readonly StageNode[] {
    return this.#launched.filter(({ isAlive }) => isAlive)
  }

  /** The public addresses of those that answer requests. */
  get urls(): string[] {
    return this.living.flatMap(({ url }) => url ?? [])
  }

  /** Another node starts; waits until it answers requests. */
  async join(options: Pick<NodeOptions, 'stopsAt' | 'version'> = {}): Promise<StageNode> {
    const node = await StageNode.launch({ ...this.#options, ...options })
    this.#launched.push(node)
    await node.process.logged('http listening')
    return node
  }

  /** The node that holds the instance, as the database says. */
  ownerOf(instance: string): Promise<StageNode> {
    return this.#once(`a node holds ${instance}`, () => this.owners.ownerOf(instance, this.living))
  }

  placingNode(): Promise<StageNode> {
    return this.#once('a node places instances', () => this.owners.placingNode(this.living))
  }

  /** Whether another node than this one holds the instance, or none. */
  async hasLeft(instance: string, node: StageNode, struck: Struck): Promise<boolean> {
    if ((await this.owners.ownerOf(instance, this.living)) !== node) return true
    return struck === 'node' && (await this.owners.holderOf(instance))?.isCell === true
  }

  /** No node is stopped or cut off, and there are as many as there are to be. */
  async mend(): Promise<void> {
    for (const node of this.living) {
      if (node.isStopped) node.continue()
      for (const relay of [node.toDatabase, node.toPeers]) relay.heal()
    }
    const missing = Math.max(this.#size - this.living.length, 0)
    await Promise.all(Array.from({ length: missing }, () => this.join()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#launched.map((node) => node[Symbol.asyncDispose]()))
  }

  async #once(what: string, find: () => Promise<StageNode | undefined>): Promise<StageNode> {
    let found: StageNode | undefined
    const isFound = async () => (found = await find()) !== undefined
    await waitUntil(what, isFound, { timeoutMs: patienceMs })
    return found as StageNode
  }
}

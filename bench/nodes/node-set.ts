// Several nodes of the service on one PostgreSQL, each in a process of its own, with linked accounts that are spread over them.

import { randomInt } from 'node:crypto'
import { Child } from '../child.ts'
import { until } from '../flow.ts'
import type { OursDesk } from '../instances-ours.ts'
import { fillPostgres } from '../instances-seed.ts'
import type { Credentials } from '../instances-seed.ts'
import { ask } from '../postgres.ts'

export type BenchNode = { process: Child<OursDesk>; url: string; address: string }
type Options = { databaseUrl: string; size: number; accounts: readonly Credentials[]; settings: Record<string, string> }
/** `id` is the one of the node in the database. */
export type Owned = { instance: string; node: BenchNode; id: string }

const port = 8091
const secret = 'the secret of all nodes of one benchmark'

export class NodeSet implements AsyncDisposable {
  readonly databaseUrl: string
  readonly #nodes: BenchNode[]
  readonly #owned: AsyncDisposableStack

  private constructor(databaseUrl: string, nodes: BenchNode[], owned: AsyncDisposableStack) {
    this.databaseUrl = databaseUrl
    this.#nodes = nodes
    this.#owned = owned
  }

  /** Resolves when every instance has an owner. */
  static async open({ databaseUrl, size, accounts, settings }: Options): Promise<NodeSet> {
    await using stack = new AsyncDisposableStack()
    await fillPostgres(databaseUrl, accounts)
    // Otherwise the first node would take all of them, and the others would get their share minutes later.
    await ask(databaseUrl, 'UPDATE assignments SET quarantined_at = 0')
    const launch = () => launchNode(stack, { ...settings, DATABASE_URL: databaseUrl })
    const nodes = await Promise.all(Array.from({ length: size }, launch))
    await ask(databaseUrl, 'UPDATE assignments SET quarantined_at = NULL')
    const set = new NodeSet(databaseUrl, nodes, stack.move())
    await until('every instance has an owner', async () => (await set.owners()).length === accounts.length)
    return set
  }

  /** Those that run. */
  get nodes(): readonly BenchNode[] {
    return this.#nodes
  }

  /** Of all nodes together, so far. */
  async cpuMs(): Promise<number> {
    const each = await Promise.all(this.#nodes.map(({ process }) => process.ask('cpuMs')))
    return each.reduce((sum, ms) => sum + ms, 0)
  }

  /** By the names of instances. One that no living node holds is left out. */
  async owners(): Promise<Owned[]> {
    const rows = await ask<{ instance: string; id: string; address: string }>(
      this.databaseUrl,
      `SELECT a.instance, n.id, n.address FROM assignments a JOIN nodes n ON n.id = a.node
       WHERE n.state <> 'dead' ORDER BY a.instance COLLATE "C"`,
    )
    return rows.flatMap(({ instance, id, address }) => {
      const node = this.#nodes.find((each) => each.address === address)
      return node ? [{ instance, id, node }] : []
    })
  }

  /** kill -9. */
  async kill(node: BenchNode): Promise<void> {
    this.#nodes.splice(this.#nodes.indexOf(node), 1)
    await node.process.kill()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync()
  }
}

async function launchNode(stack: AsyncDisposableStack, settings: Record<string, string>): Promise<BenchNode> {
  const listen = `${newHost()}:${port}`
  const own = { SERVICE_NODE_LISTEN: listen, SERVICE_NODE_SECRET: secret, PORT: '0', LOG_FORMAT: 'json' }
  const process = stack.use(new Child<OursDesk>('./instances-ours.ts', { ...settings, ...own }))
  return { process, url: await process.ask('start'), address: `http://${listen}` }
}

/** A port that is free now may be taken by the time a node has started. All of these addresses lead to the same machine. */
function newHost(): string {
  return ['127', randomInt(1, 255), randomInt(1, 255), randomInt(1, 255)].join('.')
}

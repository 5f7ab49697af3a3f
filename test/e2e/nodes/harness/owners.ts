// Says which process of a stage holds an instance, from what is stored: the assignments of nodes, or the lease.

import pg from 'pg'
import { cellPath } from '../../../../src/nodes/peer-routes.ts'
import type { StageNode } from './stage-node.ts'

type Row = Record<string, string | null>
type Holder = { name: string; pid: number; isCell: boolean }

export class Owners {
  readonly #url: string

  /** `url` leads to the database without a relay. */
  constructor(url: string) {
    this.#url = url
  }

  /** Whether nodes run, to which instances are assigned. Otherwise one process holds the lease, and the others stand by. */
  async hasNodes(): Promise<boolean> {
    const [table] = await this.#ask(`SELECT to_regclass('nodes') AS found`)
    return table?.['found'] != null && (await this.#ask(`SELECT id FROM nodes LIMIT 1`)).length > 0
  }

  /** Whether each of these processes is a node, and long enough that the others have seen it. */
  async areNodes(nodes: readonly StageNode[]): Promise<boolean> {
    const rows = await this.#ask(`SELECT address FROM nodes WHERE state = 'active' AND beat > 3`)
    return nodes.every(({ address }) => rows.some((row) => row['address'] === address))
  }

  /** The process that holds the instance, or that started the cell which holds it. */
  async ownerOf(instance: string, nodes: readonly StageNode[]): Promise<StageNode | undefined> {
    if (!(await this.hasNodes())) return this.#leaseHolder(nodes)
    const held = await this.#addressOf(instance)
    return nodes.find(({ address }) => held === address || held?.startsWith(address + cellPath))
  }

  /** The id under which the others know the process. It changes when they have given it up and it has joined again. */
  async idOf({ address }: StageNode): Promise<string | undefined> {
    const [row] = await this.#ask(`SELECT id FROM nodes WHERE address = $1 AND state <> 'dead'`, [address])
    return row?.['id'] ?? undefined
  }

  /** The process that holds the instance; it may be a cell. */
  async holderOf(instance: string): Promise<Holder | undefined> {
    const [row] = await this.#ask(
      `SELECT n.name, n.capacity::text FROM assignments a JOIN nodes n ON n.id = a.node
       WHERE a.instance = $1 AND n.state <> 'dead'`,
      [instance],
    )
    const name = row?.['name']
    if (!name) return undefined
    return { name, pid: Number(/ pid (\d+) /.exec(name)?.[1]), isCell: row['capacity'] === '0' }
  }

  /** The instance counts as one whose nodes died twice a moment ago, and no node holds it. */
  async makeSuspect(instance: string): Promise<void> {
    await this.#ask(
      `UPDATE assignments SET node = NULL, epoch = nextval('assignment_epoch'), crashes = 2,
         crashed_at = extract(epoch FROM clock_timestamp()) * 1000
       WHERE instance = $1`,
      [instance],
    )
    await this.#ask(`UPDATE node_versions SET version = version + 1`)
  }

  async crashesOf(instance: string): Promise<number> {
    const [row] = await this.#ask(`SELECT crashes::text FROM assignments WHERE instance = $1`, [instance])
    return Number(row?.['crashes'])
  }

  async quarantined(): Promise<string[]> {
    const rows = await this.#ask(`SELECT instance FROM assignments WHERE quarantined_at IS NOT NULL ORDER BY instance`)
    return rows.map((row) => row['instance'] ?? '')
  }

  /** The node that places instances: the living one with the smallest id that is no cell, or the process that holds the lease. */
  async placingNode(nodes: readonly StageNode[]): Promise<StageNode | undefined> {
    if (!(await this.hasNodes())) return this.#leaseHolder(nodes)
    const [row] = await this.#ask(
      `SELECT address FROM nodes WHERE state <> 'dead' AND capacity > 0 ORDER BY id LIMIT 1`,
    )
    return nodes.find(({ address }) => address === row?.['address'])
  }

  async #addressOf(instance: string): Promise<string | undefined> {
    const [row] = await this.#ask(
      `SELECT n.address FROM assignments a JOIN nodes n ON n.id = a.node WHERE a.instance = $1`,
      [instance],
    )
    return row?.['address'] ?? undefined
  }

  async #leaseHolder(nodes: readonly StageNode[]): Promise<StageNode | undefined> {
    const [row] = await this.#ask(
      `SELECT owner FROM lease WHERE expires_at > extract(epoch FROM clock_timestamp()) * 1000`,
    )
    return nodes.find(({ process: { pid } }) => row?.['owner']?.includes(`pid ${pid} `))
  }

  /** A connection for each question: the server may have crashed since the last one. */
  async #ask(sql: string, values: readonly string[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.#url })
    await client.connect()
    try {
      return (await client.query<Row>(sql, [...values])).rows
    } finally {
      await client.end()
    }
  }
}

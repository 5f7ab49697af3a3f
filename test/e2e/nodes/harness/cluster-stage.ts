// Several processes of the service on one PostgreSQL, a simulated network and helpdesk that they share, traffic both ways, and a
// history of what happened. faults.ts has what can go wrong on it.

import assert from 'node:assert/strict'
import { SeededRandom } from '../../../../sim/network/seeded-random.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import type { Asked, BalancerAnswer } from './balancer.ts'
import type { History, Stop } from './history.ts'
import { noViolations, violationsIn } from './history-checker.ts'
import { Owners } from './owners.ts'
import { StageNode } from './stage-node.ts'
import { openStageParts } from './stage-parts.ts'
import type { StageOptions, StageParts } from './stage-parts.ts'
import { Traffic } from './traffic.ts'
import type { Customer } from './traffic.ts'
import { Witness } from './witness.ts'

/** A busy machine needs long for a start, a take-over, and for what waited meanwhile. */
const patienceMs = 180_000

export class ClusterStage {
  readonly parts: StageParts
  readonly traffic: Traffic
  /** Whether instances are assigned to nodes. Otherwise one process holds the lease of all, and the others stand by. */
  readonly hasNodes: boolean
  readonly #options: StageOptions
  readonly #size: number
  readonly #nodes: StageNode[]
  readonly #customers: readonly Customer[]
  readonly #owners: Owners
  readonly #witness: Witness
  readonly #stops: Stop[] = []
  readonly #owned: AsyncDisposableStack

  private constructor(opened: Opened, options: StageOptions, owned: AsyncDisposableStack) {
    this.parts = opened.parts
    this.hasNodes = opened.hasNodes
    this.#nodes = opened.nodes
    this.#owners = opened.owners
    this.#options = options
    this.#size = options.nodes ?? 2
    this.#owned = owned
    const { network, helpdesk, phones } = opened.parts
    this.#witness = new Witness(network)
    this.traffic = new Traffic(helpdesk)
    this.#customers = phones.flatMap((phone, account) =>
      Array.from({ length: options.customersPerAccount ?? 2 }, (_, n) => {
        const name = `n${account} c${n}`
        return {
          name,
          phone,
          person: network.person({ phone: `55118${20_000_000 + account * 100 + n}`, pushName: name }),
        }
      }),
    )
  }

  /** All nodes run, all accounts are online, and every customer has a conversation. */
  static async open(options: StageOptions = {}): Promise<ClusterStage> {
    await using stack = new AsyncDisposableStack()
    const nodes: StageNode[] = []
    const urls = () => nodes.flatMap((node) => (node.isAlive ? (node.url ?? []) : []))
    const parts = await openStageParts(stack, options, urls)
    stack.defer(async () => {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()))
    })
    const owners = new Owners(parts.place.url)
    const hasNodes = await owners.hasAssignments()
    const stage = new ClusterStage({ parts, nodes, owners, hasNodes }, options, stack.move())
    try {
      await stage.restore()
      await stage.traffic.open(stage.#customers, new SeededRandom(options.seed ?? 'causeway'))
      return stage
    } catch (error) {
      await stage[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The nodes that run. */
  get nodes(): readonly StageNode[] {
    return this.#nodes.filter(({ isAlive }) => isAlive)
  }

  get instances(): string[] {
    return this.parts.phones.map((_, index) => `n${index}`)
  }

  /** Another node starts; waits until it answers requests. */
  async join(): Promise<StageNode> {
    const { place, environment } = this.parts
    const { hasSteppedClocks: hasSteppedClock } = this.#options
    const node = await StageNode.launch({ databaseUrl: place.url, environment, hasSteppedClock })
    this.#nodes.push(node)
    await node.process.logged('http listening')
    return node
  }

  /** The node that holds the instance, as the database says. */
  async ownerOf(instance: string): Promise<StageNode> {
    let owner: StageNode | undefined
    const isHeld = async () => (owner = await this.#owners.ownerOf(instance, this.nodes)) !== undefined
    await waitUntil(`a node holds ${instance}`, isHeld, { timeoutMs: patienceMs })
    return owner as StageNode
  }

  async heldBy(node: StageNode): Promise<string[]> {
    const owners = await Promise.all(this.instances.map((each) => this.#owners.ownerOf(each, this.nodes)))
    return this.instances.filter((_, index) => owners[index] === node)
  }

  /** Asks any node that runs. */
  ask(asked: Asked): Promise<BalancerAnswer> {
    return this.parts.balancer.ask(asked)
  }

  post(path: string, body: object): Promise<BalancerAnswer> {
    const headers = { 'content-type': 'application/json' }
    return this.ask({ method: 'POST', path, headers, body: JSON.stringify(body) })
  }

  /** From now on until all is well again, an account may open a connection beside the one that the process cannot close. */
  excuseSecondSockets(): void {
    this.#stops.push({ from: performance.now(), until: Infinity })
  }

  /** Lets something happen to a node, and waits until every instance that the node held is online at another one. */
  async moving(node: StageNode, happen: () => Promise<void> | void): Promise<void> {
    const held = await this.heldBy(node)
    const logs = held.map((instance) => this.parts.phones[this.instances.indexOf(instance)]?.companionEvents)
    const marks = logs.map((log) => log?.length ?? 0)
    await happen()
    const isOnline = async (index: number) => {
      const state = logs[index]?.after(marks[index] ?? 0).at(-1)?.state
      return state === 'online' && (await this.#owners.ownerOf(held[index] ?? '', this.nodes)) !== node
    }
    const haveMoved = async () => {
      // A process that stands by gives up after a minute.
      if (this.nodes.every((each) => each === node)) await this.join()
      return (await Promise.all(held.map((_, index) => isOnline(index)))).every(Boolean)
    }
    await waitUntil(`${held.join(', ')} are online elsewhere`, haveMoved, { timeoutMs: patienceMs })
  }

  /** Everything runs again: no node is stopped or cut off, there are as many as at the start, and all accounts are online. */
  async restore(): Promise<void> {
    for (const node of this.nodes) {
      if (node.isStopped) node.continue()
      for (const relay of [node.toDatabase, node.toPeers]) relay.heal()
    }
    await Promise.all(Array.from({ length: Math.max(this.#size - this.nodes.length, 0) }, () => this.join()))
    const { phones } = this.parts
    const states = () => phones.map(({ companion }) => companion.isConnected && companion.live)
    await waitUntil('all accounts are online', () => states().every(Boolean), {
      timeoutMs: patienceMs,
      instead: states,
    })
    for (const stop of this.#stops) stop.until = Math.min(stop.until, performance.now())
  }

  get history(): History {
    const posted = this.parts.helpdesk.messages().filter(({ messageType }) => messageType === 'incoming')
    return {
      chats: this.traffic.histories,
      idsAtHelpdesk: posted.map(({ sourceId }) => sourceId ?? ''),
      ...this.#witness.seen(this.#customers),
      stops: this.#stops,
    }
  }

  /** Ends the traffic, waits until nothing is under way, and checks the history. */
  async assertNothingWrong(): Promise<void> {
    await this.traffic.stop()
    const isSettled = async () => (await this.#underWay()) === 0 && this.#missing === 0
    const instead = () => violationsIn(this.history)
    await waitUntil('nothing is under way', isSettled, { timeoutMs: patienceMs, instead })
    await this.parts.helpdesk.settled()
    assert.deepEqual(violationsIn(this.history), noViolations)
  }

  get #missing(): number {
    const { inbound, outbound, unconfirmed } = violationsIn(this.history)
    return inbound.lost.length + outbound.lost.length + unconfirmed.length
  }

  /** Rows of messages that are neither settled nor failed. */
  async #underWay(): Promise<number> {
    const { database } = this.parts
    const { query } = database
    const outbox = query.selectFrom('outbox').select('id').where('status', 'in', ['pending', 'sending'])
    const rows = [await database.read(outbox), await database.read(query.selectFrom('inbox').select('id'))]
    return rows.flat().length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.traffic.stop()
    await this.#owned.disposeAsync()
  }
}

type Opened = {
  parts: StageParts
  nodes: StageNode[]
  owners: Owners
  hasNodes: boolean
}

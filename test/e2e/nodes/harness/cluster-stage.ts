// Several processes of the service on one PostgreSQL, a simulated network and helpdesk that they share, traffic both ways, and a
// history of what happened. faults.ts has what can go wrong on it.

import assert from 'node:assert/strict'
import type { SimPhone } from '../../../../sim/network/accounts/sim-phone.ts'
import { SeededRandom } from '../../../../sim/network/seeded-random.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import type { Asked, BalancerAnswer } from './balancer.ts'
import type { History, Stop } from './history.ts'
import { noViolations, violationsIn } from './history-checker.ts'
import { outboxLinesOf } from './lost-answers.ts'
import { NodeSet, patienceMs } from './node-set.ts'
import type { Struck } from './node-set.ts'
import type { StageNode } from './stage-node.ts'
import { openStageParts } from './stage-parts.ts'
import type { StageOptions, StageParts } from './stage-parts.ts'
import { Traffic } from './traffic.ts'
import type { Customer } from './traffic.ts'
import { Witness } from './witness.ts'

export class ClusterStage {
  readonly parts: StageParts
  readonly nodes: NodeSet
  readonly traffic: Traffic
  readonly witness: Witness
  readonly #customers: readonly Customer[]
  readonly #stops: Stop[] = []
  readonly #owned: AsyncDisposableStack
  #hasNodes = false

  private constructor(parts: StageParts, nodes: NodeSet, perAccount: number, owned: AsyncDisposableStack) {
    this.parts = parts
    this.nodes = nodes
    this.#owned = owned
    this.witness = new Witness(parts.network)
    this.traffic = new Traffic(parts.helpdesk)
    this.#customers = parts.phones.flatMap((phone, account) => customersOf(parts, phone, account, perAccount))
  }

  /** All nodes run, all accounts are online, and every customer has a conversation. */
  static async open(options: StageOptions = {}): Promise<ClusterStage> {
    await using stack = new AsyncDisposableStack()
    const { nodes: size = 2, customersPerAccount = 2, hasSteppedClocks: hasSteppedClock, seed = 'causeway' } = options
    const running: { nodes?: NodeSet } = {}
    const parts = await openStageParts(stack, options, () => running.nodes?.urls ?? [])
    const { place, environment } = parts
    const nodes = stack.use(new NodeSet({ databaseUrl: place.url, environment, hasSteppedClock }, size))
    running.nodes = nodes
    const stage = new ClusterStage(parts, nodes, customersPerAccount, stack.move())
    try {
      await stage.restore()
      stage.#hasNodes = await nodes.owners.hasNodes()
      await stage.traffic.open(stage.#customers, new SeededRandom(seed))
      return stage
    } catch (error) {
      await stage[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Whether instances are assigned to nodes. Otherwise one process holds the lease of all, and the others stand by. */
  get hasNodes(): boolean {
    return this.#hasNodes
  }

  get instances(): string[] {
    return this.parts.phones.map((_, index) => `n${index}`)
  }

  /** The node that holds the instance, as the database says. */
  ownerOf(instance: string): Promise<StageNode> {
    return this.nodes.ownerOf(instance)
  }

  /** The instances that cells hold. */
  async inCells(): Promise<string[]> {
    const holders = await Promise.all(this.instances.map((instance) => this.nodes.owners.holderOf(instance)))
    return this.instances.filter((_, index) => holders[index]?.isCell)
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
  async moving(node: StageNode, happen: () => Promise<void> | void, struck: Struck = 'node and cells'): Promise<void> {
    const held = await this.#heldBy(node, struck)
    const marks = held.map(({ phone }) => phone.companionEvents.length)
    await happen()
    const states = () => held.map(({ phone }, index) => phone.companionEvents.after(marks[index] ?? 0).at(-1)?.state)
    let left: boolean[] = []
    const haveMoved = async () => {
      // A process that stands by gives up after a minute.
      if (this.nodes.living.every((each) => each === node)) await this.nodes.join()
      left = await Promise.all(held.map(({ instance }) => this.nodes.hasLeft(instance, node, struck)))
      return left.every(Boolean) && states().every((state) => state === 'online')
    }
    const names = held.map(({ instance }) => instance).join(', ')
    const instead = () => ({ left, states: states() })
    await waitUntil(`${names} are online elsewhere`, haveMoved, { timeoutMs: patienceMs, instead })
  }

  /** Everything runs again: no node is stopped or cut off, there are as many as at the start, and all accounts are online. */
  async restore(): Promise<void> {
    await this.nodes.mend()
    const states = () => this.parts.phones.map(({ companion }) => companion.isConnected && companion.live)
    const areOnline = () => states().every(Boolean)
    await waitUntil('all accounts are online', areOnline, { timeoutMs: patienceMs, instead: states })
    if (this.#hasNodes) {
      const areNodes = () => this.nodes.owners.areNodes(this.nodes.living)
      await waitUntil('all processes are nodes', areNodes, { timeoutMs: patienceMs })
    }
    for (const stop of this.#stops) stop.until = Math.min(stop.until, performance.now())
  }

  get history(): History {
    const posted = this.parts.helpdesk.messages().filter(({ messageType }) => messageType === 'incoming')
    return {
      chats: this.traffic.histories,
      idsAtHelpdesk: posted.map(({ sourceId }) => sourceId ?? ''),
      ...this.witness.seen(this.#customers),
      stops: this.#stops,
    }
  }

  /** What is wrong already while the traffic goes on: a message that is missing may still come. */
  assertNothingWrongYet(when: string): void {
    const { inbound, outbound, ...rest } = violationsIn(this.history)
    const found = { ...rest, inbound: { ...inbound, lost: [] }, outbound: { ...outbound, lost: [] }, unconfirmed: [] }
    assert.deepEqual(found, noViolations, `${when}: ${JSON.stringify(found)}`)
  }

  /** Ends the traffic, waits until nothing is under way, and checks the history. */
  async assertNothingWrong(): Promise<void> {
    await this.traffic.stop()
    const isSettled = async () => (await this.#underWay()) === 0 && this.#missing === 0
    await waitUntil('nothing is under way', isSettled, { timeoutMs: patienceMs, instead: () => this.#found() })
    await this.parts.helpdesk.settled()
    const { lostRows, ...violations } = await this.#found()
    assert.deepEqual(violations, noViolations, [JSON.stringify(violations), ...lostRows].join('\n'))
  }

  async #found() {
    const violations = violationsIn(this.history)
    return { ...violations, lostRows: await outboxLinesOf(this.parts, violations.outbound.lost) }
  }

  async #heldBy(node: StageNode, struck: Struck): Promise<Held[]> {
    const all = this.parts.phones.map((phone, index) => ({ phone, instance: `n${index}` }))
    const left = await Promise.all(all.map(({ instance }) => this.nodes.hasLeft(instance, node, struck)))
    return all.filter((_, index) => left[index] === false)
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

type Held = { instance: string; phone: SimPhone }

function customersOf({ network }: StageParts, phone: SimPhone, account: number, count: number): Customer[] {
  return Array.from({ length: count }, (_, n) => {
    const name = `n${account} c${n}`
    return { name, phone, person: network.person({ phone: `55118${20_000_000 + account * 100 + n}`, pushName: name }) }
  })
}

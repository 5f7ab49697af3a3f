// Several memberships in one test, with recorded holders, on one clock and one set of tables.

import assert from 'node:assert/strict'
import type { Hold } from '../../../src/core/nodes/hold.ts'
import type { SeenNode } from '../../../src/core/nodes/node.ts'
import type { Peer, Peers } from '../../../src/core/nodes/peers.ts'
import { sleep } from '../../../src/lib/clock.ts'
import type { Inherit } from '../../../src/nodes/membership/burials.ts'
import type { Holder } from '../../../src/nodes/membership/holder.ts'
import { Membership } from '../../../src/nodes/membership/membership.ts'
import { RecordedLog } from '../logs.ts'
import { ManualClock } from '../manual-clock.ts'
import { waitUntil } from '../wait-until.ts'
import { MemoryTables } from './memory-tables.ts'
import { NodeProcess } from './node-process.ts'
import type { NodeTables } from './node-tables.ts'

const stepMs = 50

/** Records what it is told. An instance counts as connected while it is held and the node is not isolated. */
class RecordedHolder implements Holder {
  readonly calls: string[] = []
  readonly held = new Set<string>()
  isIsolated = false
  /** Nothing can be given away now. */
  isPinned = false
  /** Replaced by a test that wants a call to fail or to last. */
  onTake: (hold: Hold, lost: AbortSignal) => Promise<void> = () => Promise.resolve()
  onLose: (hold: Hold) => Promise<void> = () => Promise.resolve()
  onGiveAway: (hold: Hold, to: SeenNode) => Promise<void> = () => Promise.resolve()

  async take(hold: Hold, lost: AbortSignal): Promise<void> {
    this.calls.push(`take ${hold.instance} ${hold.epoch}`)
    await this.onTake(hold, lost)
    this.held.add(hold.instance)
  }

  async lose(hold: Hold): Promise<void> {
    this.calls.push(`lose ${hold.instance} ${hold.epoch}`)
    await this.onLose(hold)
    this.held.delete(hold.instance)
  }

  async giveAway(hold: Hold, to: SeenNode): Promise<'tried' | 'not_now'> {
    this.calls.push(`give ${hold.instance} ${hold.epoch}`)
    if (this.isPinned) return 'not_now'
    await this.onGiveAway(hold, to)
    return 'tried'
  }

  isolated(is: boolean): void {
    this.calls.push(is ? 'isolated' : 'back')
    this.isIsolated = is
  }

  get connected(): string[] {
    return this.isIsolated ? [] : [...this.held].sort()
  }
}

type NodeOptions = {
  name?: string
  address?: string
  skewMs?: number
  protocol?: number
  capacity?: number
  isDead?: (name: string) => boolean
}

export class TestNode {
  readonly name: string
  readonly address: string
  readonly process: NodeProcess
  readonly holder = new RecordedHolder()
  readonly recorded = new RecordedLog()
  readonly events: string[] = []
  readonly membership: Membership
  /** Since it was stopped it may think that it holds what others hold. */
  mayBeWrong = false

  constructor(stage: NodeStage, name: string, options: NodeOptions) {
    this.name = name
    this.address = options.address ?? `http://${name}`
    this.process = new NodeProcess(stage.clock, options.skewMs)
    const { tables } = stage
    this.membership = new Membership({
      node: {
        ...{ name, address: this.address, build: '1', protocol: options.protocol ?? 1 },
        ...{ settingsHash: '', capacity: options.capacity ?? 100 },
      },
      tables: { nodes: this.process.reach(tables.nodes), assignments: this.process.reach(tables.assignments) },
      peers: stage.peersOf(this),
      holder: this.holder,
      inherit: spread,
      listener: {
        onSettings: () => this.events.push('settings'),
        onSetBack: () => this.events.push('set back'),
        onFatal: (reason) => this.events.push(`fatal: ${reason.message}`),
      },
      isDead: options.isDead ?? (() => false),
      clock: this.process.clock,
      log: this.recorded.log,
    })
  }

  get id(): string {
    return this.membership.nodeHold.node
  }

  stop(): void {
    this.process.stop()
    this.mayBeWrong = true
  }
}

export class NodeStage {
  readonly clock = new ManualClock()
  readonly tables: NodeTables
  readonly all: TestNode[] = []

  constructor(tables?: (clock: ManualClock) => NodeTables) {
    this.tables = tables ? tables(this.clock) : new MemoryTables(this.clock)
  }

  /** A node that has not joined yet. */
  newNode(options: NodeOptions = {}): TestNode {
    const node = new TestNode(this, options.name ?? `node-${this.all.length + 1}`, options)
    this.all.push(node)
    return node
  }

  async join(options: NodeOptions = {}): Promise<TestNode> {
    const node = this.newNode(options)
    await this.until(node.membership.join())
    return node
  }

  /** New instances at this node, which has taken them. */
  async give(node: TestNode, ...instances: string[]): Promise<void> {
    for (const instance of instances) await this.tables.addInstance(instance)
    const placements = instances.map((instance) => ({ instance, node: node.id }))
    await this.tables.assignments.place(placements, this.clock.now())
    await this.pass(1000)
    for (const instance of instances) assert.ok(node.holder.held.has(instance), `${node.name} has taken ${instance}`)
  }

  /** Time passes. No instance is connected twice at any moment, except at a node that was stopped. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.clock.advance(Math.min(stepMs, ms - passed))
      const isQuiet = () => this.all.every((node) => node.process.inFlight === 0 || node.process.isStopped)
      if (!isQuiet()) await waitUntil('the database has answered', isQuiet)
      this.#expectOneConnection()
    }
  }

  async until<T>(settling: Promise<T>): Promise<T> {
    let isSettled = false
    const note = () => {
      isSettled = true
    }
    settling.then(note, note)
    await waitUntil('the promise has settled', async () => {
      if (!isSettled) await this.pass(stepMs)
      return isSettled
    })
    return settling
  }

  async ownerOf(instance: string): Promise<string | undefined> {
    const owner = (await this.tables.assignments.find(instance))?.node
    return this.all.find(({ membership }) => membership.state !== 'standby' && idOf(membership) === owner)?.name
  }

  peersOf(asker: TestNode): Pick<Peers, 'renewed' | 'look'> {
    const reach = (peer: Peer) =>
      this.all.find(
        (node) =>
          node.address === peer.address &&
          !node.process.isStopped &&
          !node.process.isDead &&
          [node, asker].every(({ process }) => process.peers === 'up'),
      )
    return {
      renewed: async (peer, timeoutMs) => {
        const reached = reach(peer)
        const lastsMs = reached?.process.peerMs ?? Infinity
        await sleep(asker.process.clock, Math.min(lastsMs, timeoutMs))
        await asker.process.awake()
        return lastsMs < timeoutMs ? reached?.membership.renewed() : undefined
      },
      look: (peer) => {
        reach(peer)?.membership.lookNow()
        return Promise.resolve()
      },
    }
  }

  /** Ends all nodes. A node that was killed has nothing to end. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.all) {
      if (node.process.isStopped) await node.process.continue()
      node.process.database = 'up'
      if (!node.process.isDead) await this.until(node.membership[Symbol.asyncDispose]())
    }
    assert.deepEqual(
      this.all.filter(({ process }) => !process.isDead && process.inFlight > 0).map(({ name }) => name),
      [],
    )
  }

  #expectOneConnection(): void {
    const connected = new Map<string, string>()
    for (const { name, process, holder, mayBeWrong } of this.all) {
      if (process.isDead || mayBeWrong) continue
      for (const instance of holder.connected) {
        assert.equal(connected.get(instance), undefined, `${instance} is connected at ${name} and at another node`)
        connected.set(instance, name)
      }
    }
  }
}

function idOf(membership: Membership): string | undefined {
  return membership.state === 'released' ? undefined : membership.nodeHold.node
}

/** The instances of the dead node go to the living ones in turn. */
const spread: Inherit = (dead, assignments, living) => {
  const takers = living.filter(({ state }) => state === 'active')
  return assignments
    .filter(({ node }) => node === dead.id)
    .flatMap(({ instance }, index) => {
      const taker = takers[index % takers.length]
      return taker ? [{ instance, node: taker.id }] : []
    })
}

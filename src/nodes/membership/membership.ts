// This process as a node: it beats, watches the others, and holds the instances that are assigned to it.
//
// standby   → active     when its row is in the database and no other process forbids it
// active    → uncertain  when its last beat is older than its own limit: it neither sends nor acknowledges
// uncertain → isolated   when another node may give it up: its connections close
// uncertain, isolated → active   when a beat goes through: it goes on with the same epochs
// any       → standby    when the others have given it up: it loses everything and joins again under a new id
// any       → draining   when it stops: it takes no more instances
// any       → released   on disposal, so that the others need not wait
//
// The beat waits for nothing: all that follows from an answer runs beside its loop.

import type { InstanceName } from '../../core/ids.ts'
import { NotHeldError } from '../../core/nodes/hold.ts'
import type { Hold, NodeHold, NodeId } from '../../core/nodes/hold.ts'
import type { BeatAnswer, SeenNode } from '../../core/nodes/node.ts'
import type { RenewedAnswer } from '../../core/nodes/peers.ts'
import { sleep } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { shownOwnerName } from '../owner-name.ts'
import { isCell } from '../placement/cluster.ts'
import { ownedBy } from '../standby.ts'
import { beatUntilStopped } from './beat-loop.ts'
import type { Joined } from './joining.ts'
import { createMembershipParts } from './membership-parts.ts'
import type { MembershipDeps, MembershipParts } from './membership-parts.ts'
import type { Span } from './node-watch.ts'

export type MembershipState = 'standby' | 'active' | 'uncertain' | 'isolated' | 'draining' | 'released'

export class Membership {
  readonly #deps: MembershipDeps
  readonly #stop = new AbortController()
  readonly #parts: MembershipParts
  #id: NodeId | undefined
  #predecessorMayRun = false
  #beatMs = 0
  #started: Promise<void> | undefined
  #beating: Promise<void> | undefined

  constructor(deps: MembershipDeps) {
    this.#deps = deps
    this.#parts = createMembershipParts(deps, { id: () => this.#id, stopped: this.#stop.signal })
  }

  get state(): MembershipState {
    if (this.#stop.signal.aborted) return 'released'
    if (this.#id === undefined) return this.#parts.draining.hasBegun ? 'draining' : 'standby'
    if (this.#parts.isolation.isIsolated) return 'isolated'
    if (!this.#parts.isolation.isCertain) return 'uncertain'
    return this.#parts.draining.hasBegun ? 'draining' : 'active'
  }

  /** Whether the database has named a node beside which this process may not run. */
  get isRefused(): boolean {
    return this.#parts.joining.isRefused
  }

  /** Whether a node before this one did not end and may still run. It may hold the port. */
  get predecessorMayRun(): boolean {
    return this.#predecessorMayRun
  }

  /** The right to the work that belongs to no instance. Its fence is the row of the node; the epoch means nothing here. */
  get nodeHold(): NodeHold {
    if (this.#id === undefined) throw new NotHeldError()
    return { node: this.#id, epoch: 0 }
  }

  /** Undefined while this process is no node. */
  get id(): NodeId | undefined {
    return this.#id
  }

  /** The living nodes, this one included, as the last beat showed them. */
  get nodes(): readonly SeenNode[] {
    return this.#parts.last.nodes
  }

  /** Whether another node takes requests of clients. A cell takes none. */
  get hasServingPeers(): boolean {
    return this.#parts.last.nodes.some((node) => node.id !== this.#id && !isCell(node))
  }

  /** How long the last beat that went through has taken. */
  get beatMs(): number {
    return this.#beatMs
  }

  /** How many instances no node holds. */
  get free(): number {
    return this.#parts.last.free
  }

  /** This node has placed every free instance. `seen` is what it saw of the nodes before. */
  noteNoneFree(seen: readonly SeenNode[]): void {
    this.#parts.last.noteNoneFree(seen)
  }

  /** How many instances are assigned to this node. */
  get heldCount(): number {
    return this.#parts.held.size
  }

  /** Whether what the database assigns to this node is known. */
  get hasRead(): boolean {
    return this.#parts.reader.hasRead
  }

  holds(instance: InstanceName): boolean {
    return this.#parts.held.find(instance) !== undefined
  }

  readonly holdOf = (instance: InstanceName): Hold => {
    const hold = this.#parts.held.find(instance)
    if (!hold) throw new NotHeldError(instance)
    return hold
  }

  /** Epoch milliseconds on the clock of the database. */
  databaseNow(): number {
    return this.#parts.last.databaseNow()
  }

  /** Resolves when this process is a node; rejects when another process forbids it for the standby time. */
  join(): Promise<void> {
    this.#started = this.#enter().then(() => {
      this.#beating = this.#beat()
    })
    return this.#started
  }

  /** Reads what this node holds now, instead of with the next change that a beat shows. */
  lookNow(): void {
    this.#parts.reader.readNow()
  }

  /**
   * Reads what this node holds. Resolves when the holder has followed the changes of this instance, or of all, or when the time is
   * over.
   */
  async follow(timeoutMs: number, instance?: InstanceName): Promise<void> {
    const over = new AbortController()
    const followed = (async () => {
      this.lookNow()
      await this.#parts.burials.settled()
      await this.#parts.reader.settled()
      await (instance === undefined ? this.#parts.held.settled(over.signal) : this.#parts.held.settledOf(instance))
    })()
    await Promise.race([followed, sleep(this.#deps.clock, timeoutMs, over.signal)])
    over.abort()
  }

  /** The instance was deleted by this node. */
  dropDeleted(instance: InstanceName): void {
    this.#parts.held.drop(instance)
    this.lookNow()
  }

  /** For a node that cannot reach the database. */
  renewed(): RenewedAnswer {
    return this.#parts.watch.renewed(this.#deps.clock.monotonic())
  }

  /** Takes no more instances. Resolves when none is left, or when no other node is there to take them. */
  async drain(): Promise<void> {
    const draining = this.#parts.draining.run(this.#id)
    this.#noteDraining()
    await draining
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { tables, log } = this.#deps
    this.#stop.abort()
    this.#parts.isolation.pause()
    await this.#started?.catch(ignoreRejection)
    await this.#beating
    await Promise.all([this.#parts.burials.settled(), this.#parts.reader.settled(), this.#parts.held.settled()])
    if (this.#id === undefined) return
    try {
      await tables.nodes.end(this.#id, this.databaseNow())
    } catch (err) {
      log.warn({ err }, 'the node could not be ended: the others give it up after 4 s')
    }
  }

  async #enter(): Promise<void> {
    const joined = await this.#parts.joining.join()
    const { signal } = this.#stop
    this.#id = joined.id
    if (signal.aborted) throw new Error('stopped while joining the nodes')
    this.#parts.last.forgetBeat()
    this.#begin(joined)
  }

  #begin({ id, answer, span, dead, mayRun }: Joined): void {
    this.#predecessorMayRun = mayRun
    this.#deps.log.info({ node: id, others: answer.nodes.length - 1 }, 'this process is a node')
    this.#renew(id, answer, span)
    this.#parts.reader.readNow()
    this.#parts.burials.start(id, dead, answer.nodes)
  }

  #beat(): Promise<void> {
    const { tables, clock, log } = this.#deps
    return beatUntilStopped({
      beat: (id) => tables.nodes.beat(id),
      id: () => this.#id,
      onAnswer: async (id, answer, span) => {
        if (answer.mine === null) await this.#joinAgain(answer)
        else this.#renew(id, answer, span)
      },
      nextEnd: (asked) => this.#parts.watch.nextEnd(asked),
      clock,
      log,
      signal: this.#stop.signal,
    })
  }

  #renew(id: NodeId, answer: BeatAnswer, span: Span): void {
    const { listener, log } = this.#deps
    this.#beatMs = span.heard - span.asked
    const others = answer.nodes.filter((node) => node.id !== id)
    const { isSetBack, areSettingsNew } = this.#parts.last.note(answer, span.heard)
    this.#parts.isolation.renewed(span.asked, others)
    const dead = this.#parts.watch.note(others, span)
    this.#parts.burials.start(id, dead, answer.nodes)
    if (isSetBack) {
      log.error({}, 'the database was set back: it lacks what it had confirmed')
      listener.onSetBack()
      this.#parts.reader.readNow()
    }
    if (areSettingsNew) listener.onSettings()
    this.#parts.reader.noteVersion(answer.version)
    this.#noteDraining()
  }

  /** The others have given this node up. What it held is theirs. */
  async #joinAgain({ nodes }: BeatAnswer): Promise<void> {
    const { node, listener, log } = this.#deps
    log.warn({ held: this.#parts.held.size }, 'the other nodes have given this one up: it joins again')
    this.#id = undefined
    this.#parts.isolation.cutOff()
    this.#parts.held.loseAll()
    this.#noteDraining()
    if (this.#parts.draining.hasBegun) return
    // A cell is started anew when one is needed.
    if (isCell(node)) {
      listener.onFatal(new Error('the other nodes have given up this cell'))
      return
    }
    // It may not run beside the one that took over. As long as it runs, it keeps the port from that one.
    if (node.address === '') {
      listener.onFatal(
        new Error(nodes[0] ? ownedBy(shownOwnerName(nodes[0].name)) : 'this node was given up by another one'),
      )
      return
    }
    try {
      await this.#enter()
    } catch (error) {
      if (!this.#stop.signal.aborted) listener.onFatal(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #noteDraining(): void {
    const others = this.#parts.last.nodes.filter(({ id }) => id !== this.#id)
    this.#parts.draining.note(this.#parts.held.size, others)
  }
}

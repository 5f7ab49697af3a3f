// Makes this process a node, as soon as it may be one beside the others.
//
// A process without an address runs alone: it waits while any other node lives. A process with an address starts only where all
// nodes have one. It writes its row first and looks afterwards. So of two that may not run together, the second one sees the
// first, and takes its row back.

import { randomBytes } from 'node:crypto'
import type { NodeId } from '../../core/nodes/hold.ts'
import type { BeatAnswer, NewNode, NodeTable, SeenNode } from '../../core/nodes/node.ts'
import { sleep, withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { StartError } from '../../lib/start-error.ts'
import { shownOwnerName } from '../owner-name.ts'
import { waitAsStandby } from '../standby.ts'
import type { StandbyAnswer } from '../standby.ts'
import { NodeWatch } from './node-watch.ts'
import type { Span } from './node-watch.ts'
import { beatDeadlineMs, beatEveryMs } from './times.ts'

type Deps = {
  node: Omit<NewNode, 'id'>
  nodes: Pick<NodeTable, 'join' | 'beat' | 'end'>
  /** True only if the process of this name is certainly dead. */
  isDead: (name: string) => boolean
  clock: Clock
  log: Log
  signal: AbortSignal
}

/** `dead`: nodes that are gone although they did not end. `mayRun`: one of them may still run; it may hold the port. */
export type Joined = { id: NodeId; answer: BeatAnswer; span: Span; dead: SeenNode[]; mayRun: boolean }

export class Joining {
  readonly #deps: Deps
  readonly #watch = new NodeWatch()
  #isRefused = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether the database has named a node beside which this process may not run. */
  get isRefused(): boolean {
    return this.#isRefused
  }

  /** Rejects when the other node lives for the standby time, and at once when waiting cannot help. */
  join(): Promise<Joined> {
    const { clock, log, signal } = this.#deps
    const onFailure = (err: unknown) => {
      log.warn({ err }, 'the nodes of the database could not be asked for')
    }
    return waitAsStandby({ ask: () => this.#tryToJoin(), everyMs: beatEveryMs, onFailure, clock, log, signal })
  }

  async #tryToJoin(): Promise<StandbyAnswer<Joined>> {
    const { node, nodes, clock, signal } = this.#deps
    const id = `n${randomBytes(8).toString('hex')}`
    // The beat of a node that has not joined changes nothing.
    const before = await this.#look(id)
    this.#refuseProtocol(before.answer)
    const silent = this.#watch.note(before.answer.nodes, before.span)
    const hinders = this.#hindering(before.answer.nodes, silent)
    if (hinders) return this.#refusedBy(hinders)
    await nodes.join({ ...node, id }, before.answer.now)
    const { answer, span } = await this.#look(id)
    const rival = this.#hindering(
      answer.nodes.filter((other) => other.id !== id),
      silent,
    )
    if (!rival && answer.mine !== null) {
      const dead = answer.nodes.filter((other) => other.id !== id && (this.#isGone(other) || isAmong(silent, other)))
      return { granted: { id, answer, span, dead, mayRun: dead.some((other) => !this.#isGone(other)) } }
    }
    await nodes.end(id, answer.now)
    // Two that try at the same time would otherwise meet again and again.
    await sleep(clock, Math.random() * beatEveryMs, signal)
    return this.#refusedBy(rival)
  }

  async #look(id: NodeId): Promise<{ answer: BeatAnswer; span: Span }> {
    const { nodes, clock } = this.#deps
    const asked = clock.monotonic()
    const answer = await withDeadline(clock, beatDeadlineMs, nodes.beat(id), () => new Error('no answer in time'))
    return { answer, span: { asked, heard: clock.monotonic() } }
  }

  #hindering(others: readonly SeenNode[], silent: readonly SeenNode[]): SeenNode | undefined {
    const isAlone = this.#deps.node.address === ''
    const hindering = others
      .filter(({ address }) => isAlone || address === '')
      .find((other) => !this.#isGone(other) && !isAmong(silent, other))
    if (hindering && !isAlone && this.#watch.hasBeaten(hindering.id)) throw new StartError(besideLoner(hindering))
    return hindering
  }

  #refusedBy(other: SeenNode | undefined): { refusedBy: string | undefined } {
    this.#isRefused ||= other !== undefined
    return { refusedBy: other && shownOwnerName(other.name) }
  }

  /** A row with our own name is one of ours whose answer was lost. */
  #isGone({ name }: SeenNode): boolean {
    return name === this.#deps.node.name || this.#deps.isDead(name)
  }

  #refuseProtocol({ protocol }: BeatAnswer): void {
    if (this.#deps.node.protocol >= protocol) return
    throw new StartError(
      'the nodes of this database run a newer version that this one cannot work with: start that version',
    )
  }
}

/** A node that has beaten since counts as another one. */
function isAmong(nodes: readonly SeenNode[], { id, beat }: SeenNode): boolean {
  return nodes.some((node) => node.id === id && node.beat === beat)
}

function besideLoner({ name }: SeenNode): string {
  return `${shownOwnerName(name)} runs alone on this database: stop it, set SERVICE_NODE_LISTEN for it too, and start it again`
}

// Asks other nodes over HTTP, each request signed for the node that it is for.

import type { Readable } from 'node:stream'
import type { DestinationKey, InstanceName } from '../core/ids.ts'
import type { ForwardHead, Owner } from '../core/nodes/owners.ts'
import type { Peer, Peers, RenewedAnswer } from '../core/nodes/peers.ts'
import type { Egress } from '../lib/egress/egress.ts'
import type { AnswerHead } from '../lib/egress/received-head.ts'
import { formatForwardHead } from './forward-head.ts'
import { peerRoutes, refusalHeader, refusals } from './peer-routes.ts'
import type { OwnView, Refusal } from './peer-routes.ts'
import { hashOf } from './signature.ts'
import type { NodeSignature } from './signature.ts'

type Deps = {
  signature: NodeSignature
  /** For callbacks and for what nodes tell each other. */
  quick: Egress
  /** For requests that may take minutes: they must not keep callbacks waiting for a connection. It has more connections. */
  patient: Egress
}

type Terms = { timeoutMs: number; signal: AbortSignal }

/** `refusal`: the node does not serve the instance, and changed nothing. */
export type ForwardAnswer<Body> = (AnswerHead & { body: Body }) | { refusal: Refusal }

const tellTimeoutMs = 1000
const viewTimeoutMs = 1000

export class PeerClient implements Peers {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Not over the quick connections: while the database is away, callbacks that wait for it keep all of them. */
  async renewed(peer: Peer, timeoutMs: number): Promise<RenewedAnswer | undefined> {
    return this.#ask(this.#deps.patient, peer, peerRoutes.renewed, {}, timeoutMs).then(readRenewed, () => undefined)
  }

  /** What the peers answer about the instances that they hold. One that does not answer in time is left out. */
  async views(peers: readonly Peer[], view: OwnView): Promise<unknown[]> {
    const ask = (peer: Peer) => this.#ask(this.#deps.patient, peer, peerRoutes[view], {}, viewTimeoutMs)
    const answers = await Promise.allSettled(peers.map((peer) => ask(peer)))
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }

  look(peer: Peer): Promise<void> {
    return this.#tell(peer, peerRoutes.look, {})
  }

  drain(peer: Peer, instance: InstanceName): Promise<void> {
    return this.#tell(peer, peerRoutes.drain, { instance })
  }

  /** A tenant was changed. Resolves when the peer goes on with the new settings; one that does not answer learns it from its beat. */
  settingsChanged(peer: Peer): Promise<void> {
    return this.#tell(peer, peerRoutes.settings, {})
  }

  /** An agent has asked for the QR code of an instance that the peer holds, in this helpdesk inbox. Best effort. */
  showCode(peer: Peer, instance: InstanceName, destination: DestinationKey): Promise<void> {
    return this.#tell(peer, peerRoutes.code, { instance, destination })
  }

  /** Resolves with the whole answer; rejects with an EgressError when it is not complete after `timeoutMs`. */
  async forwardCallback(owner: Owner, head: ForwardHead, body: Buffer, terms: Terms): Promise<ForwardAnswer<Buffer>> {
    const answer = await this.#deps.quick.request({ ...this.#forward(owner, head, body), ...terms, isTotal: true })
    const refusal = refusalOf(answer)
    return refusal === undefined ? answer : { refusal }
  }

  /** Resolves when the answer begins. Its body must be read to the end or destroyed. */
  async forward(owner: Owner, head: ForwardHead, body: Buffer, terms: Terms): Promise<ForwardAnswer<Readable>> {
    const asked = { ...this.#forward(owner, head, body), ...terms, maxResponseBytes: Infinity }
    const answer = await this.#deps.patient.open(asked)
    const refusal = refusalOf(answer)
    if (refusal === undefined) return answer
    answer.body.destroy()
    return { refusal }
  }

  /** What happens at the peer, for as long as both want it. Resolves when the answer begins; the signal ends the stream. */
  async events(peer: Peer, signal: AbortSignal): Promise<Readable> {
    const asked = this.#signed(peer, peerRoutes.events, { head: '', body: Buffer.from('{}') })
    const endless = { timeoutMs: Infinity, maxResponseBytes: Infinity }
    const { status, body } = await this.#deps.patient.open({ ...asked, ...endless, signal })
    if (status === 200) return body
    body.destroy()
    throw new Error(`the node answered ${status}`)
  }

  #forward(owner: Owner, head: ForwardHead, body: Buffer) {
    return this.#signed(owner, peerRoutes.forward, { head: formatForwardHead(head), body })
  }

  async #tell(peer: Peer, path: string, facts: object): Promise<void> {
    // The peer finds out by itself, a little later.
    await this.#ask(this.#deps.quick, peer, path, facts, tellTimeoutMs).catch(() => undefined)
  }

  async #ask(egress: Egress, peer: Peer, path: string, facts: object, timeoutMs: number): Promise<unknown> {
    const body = Buffer.from(JSON.stringify(facts))
    const answer = await egress.request({ ...this.#signed(peer, path, { head: '', body }), timeoutMs })
    if (answer.status !== 200) throw new Error(`the node answered ${answer.status}`)
    return answer.json()
  }

  #signed({ id, address }: Peer, path: string, { head, body }: { head: string; body: Buffer }) {
    const signed = { target: id, method: 'POST', path, head, bodyHash: hashOf(body) } as const
    const headers = this.#deps.signature.sign(signed)
    return { method: signed.method, url: address + path, headers, body }
  }
}

function refusalOf({ status, headers }: AnswerHead): Refusal | undefined {
  return status === 421 ? refusals.find((each) => each === headers[refusalHeader]) : undefined
}

function readRenewed(answer: unknown): RenewedAnswer | undefined {
  const { beatAgeMs, watchedMs } = (answer ?? {}) as Partial<Record<keyof RenewedAnswer, unknown>>
  return typeof beatAgeMs === 'number' && typeof watchedMs === 'number' ? { beatAgeMs, watchedMs } : undefined
}

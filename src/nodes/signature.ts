// Signs a request to another node with the secret that all nodes share. The id of the target is part of it and is new with every
// start, so a recorded request is worth nothing at another node, or after a restart of the same one.

import { createHmac, createSecretKey, hash, timingSafeEqual } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { NodeId } from '../core/nodes/hold.ts'
import type { Clock } from '../lib/clock.ts'

/** How far the clocks of two nodes may differ. */
const toleranceMs = 5 * 60_000

export const signatureHeaders = {
  target: 'x-node-target',
  time: 'x-node-time',
  /** The SHA-256 of the body. */
  bodyHash: 'x-node-body',
  /** What belongs to the request beside its body; absent when there is nothing. */
  head: 'x-node-request',
  signature: 'x-node-signature',
} as const

export type Signed = { target: NodeId; method: string; path: string; head: string; bodyHash: string }

type SignedHeaders = Readonly<Record<string, string | string[] | undefined>>

/** `other_node`: the request is for a node that was here before, or for another one. */
export type Verdict = { is: 'genuine'; signed: Signed } | { is: 'unsigned' | 'other_node' | 'forged' | 'stale' }

export class NodeSignature {
  readonly #secret: KeyObject
  readonly #clock: Pick<Clock, 'now'>

  constructor(secret: string, clock: Pick<Clock, 'now'>) {
    this.#secret = createSecretKey(secret, 'utf8')
    this.#clock = clock
  }

  /** The headers that prove the request. */
  sign(signed: Signed): Record<string, string> {
    const time = String(this.#clock.now())
    return {
      [signatureHeaders.target]: signed.target,
      [signatureHeaders.time]: time,
      [signatureHeaders.bodyHash]: signed.bodyHash,
      ...(signed.head !== '' && { [signatureHeaders.head]: signed.head }),
      [signatureHeaders.signature]: this.#compute(signed, time).toString('hex'),
    }
  }

  /** The body itself is not judged: its hash must be that of the genuine request. */
  judge(self: NodeId, method: string, path: string, headers: SignedHeaders): Verdict {
    const [target, time, bodyHash, given] = (['target', 'time', 'bodyHash', 'signature'] as const).map((name) =>
      textOf(headers, signatureHeaders[name]),
    )
    if (!target || !time || !bodyHash || !given) return { is: 'unsigned' }
    if (target !== self) return { is: 'other_node' }
    const signed = { target, method, path, head: textOf(headers, signatureHeaders.head) ?? '', bodyHash }
    const [expected, found] = [this.#compute(signed, time), Buffer.from(given, 'hex')]
    if (found.length !== expected.length || !timingSafeEqual(found, expected)) return { is: 'forged' }
    const isFresh = Math.abs(this.#clock.now() - Number(time)) <= toleranceMs
    return isFresh ? { is: 'genuine', signed } : { is: 'stale' }
  }

  /** Line by line: none of the parts has a line break in it. */
  #compute({ target, method, path, head, bodyHash }: Signed, time: string): Buffer {
    const text = [target, method, path, head, bodyHash, time].join('\n')
    return createHmac('sha256', this.#secret).update(text).digest()
  }
}

export function hashOf(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex')
}

function textOf(headers: SignedHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

// A callback whose owner does not answer: the node that received it stores it, and the owner sends it later.

import type { InstanceName } from '../ids.ts'

export type UnownedCallback = {
  instance: InstanceName
  headers: Record<string, string | string[] | undefined>
  /** The bytes as they came: the signature is over them. */
  raw: Buffer
  /** For how long the helpdesk has waited for the answer. */
  waitedMs: number
  /** The owner may have stored it already; its answer was lost. */
  mayBeStored: boolean
}

export type StandIn = {
  /** Checks the signature and stores the callback. It never sends. */
  store(callback: UnownedCallback): Promise<{ status: number; body: Record<string, unknown> }>
}

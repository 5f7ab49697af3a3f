// The name of an owner in the lease: for operators, and for a process on the same machine that must know whether it is dead.

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { identifyProcess, isCertainlyDead } from '../lib/process/process-identity.ts'

const separator = ' at '

/** No two processes have the same name. Earlier builds store the first half only. */
export function newOwnerName(): string {
  const shown = `${hostname()} pid ${process.pid} (${randomBytes(4).toString('hex')})`
  const identity = identifyProcess()
  return identity === undefined ? shown : shown + separator + identity
}

export function shownOwnerName(owner: string): string {
  return owner.split(separator)[0] ?? owner
}

/** True only if the owner is certainly dead. */
export function isDeadOwner(owner: string): boolean {
  const [, identity] = owner.split(separator)
  return identity !== undefined && isCertainlyDead(identity)
}

// The facts about a request during its handling: the caller, the begun message, and the fault that struck it.

import type { FastifyRequest } from 'fastify'
import type { BegunMessage } from '../desk/create-message.ts'
import type { RequestFault } from '../faults/fault-plan.ts'
import type { AccountRow, Author, Role } from '../state/rows.ts'

/** Bots have no role. They may use every route that is open to bots. */
export type Caller = { account: AccountRow; author: Author; role: Role | 'bot' }

export type Notes = { fault?: RequestFault; caller?: Caller; beganAt?: number; begun?: BegunMessage }

const notes = new WeakMap<FastifyRequest, Notes>()

export function notesOn(request: FastifyRequest): Notes {
  const known = notes.get(request) ?? {}
  notes.set(request, known)
  return known
}

export function callerOf(request: FastifyRequest): Caller {
  const { caller } = notesOn(request)
  if (!caller) throw new Error(`${request.url} is answered without authentication`)
  return caller
}

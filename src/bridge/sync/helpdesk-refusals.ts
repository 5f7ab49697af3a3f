// What a caller sees of a helpdesk that fails, for endpoints that work through a whole helpdesk inbox.

import { DownstreamError } from '../../core/downstream.ts'
import { BridgeError } from '../../core/errors.ts'
import { HelpdeskDatabaseError } from '../../core/helpdesk/helpdesk-database.ts'

/** The helpdesk inbox of the instance; a refusal when there is none, or when it cannot be asked. */
export async function requireTarget<Target>(finding: Promise<Target | null>): Promise<Target> {
  const target = await finding.catch(refuse)
  if (target !== null) return target
  const sentence = 'no helpdesk is configured for the instance: set DOWNSTREAM_* or its tenant'
  throw new BridgeError('SERVICE_NO_HELPDESK', sentence)
}

/** Throws a failure of the helpdesk or of its database as its caller sees it. */
export function refuse(error: unknown): never {
  if (!(error instanceof DownstreamError) && !(error instanceof HelpdeskDatabaseError)) throw error
  throw new BridgeError('SERVICE_HELPDESK_UNREACHABLE', error.message, { cause: error })
}

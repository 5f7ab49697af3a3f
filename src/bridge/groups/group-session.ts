// The part of a network session that the administration of groups uses, and what its errors mean to a caller.

import type { Caller } from '../../core/audit.ts'
import { BridgeError } from '../../core/errors.ts'
import { GroupError } from '../../core/group-administration.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { NetworkSession } from '../../core/network.ts'

export type GroupSession = Pick<NetworkSession, 'groups' | 'send' | 'newMessageId' | 'findPerson'>

/** Undefined while the account is not ready. */
export type GroupSessionOf = (instance: InstanceName) => GroupSession | undefined

/** Who asks, as the audit log shows it. */
export type GroupAdmin = { instance: InstanceName; ownerTag: string; actor: Caller }

export function readySession(sessionOf: GroupSessionOf, instance: InstanceName): GroupSession {
  const session = sessionOf(instance)
  if (session) return session
  throw new BridgeError('SERVICE_NOT_READY', 'the instance is not ready: groups need a connection to WhatsApp')
}

export function toCallerError(error: unknown): BridgeError {
  if (error instanceof BridgeError) return error
  if (!(error instanceof GroupError)) {
    return new BridgeError('SERVICE_NETWORK_FAILED', 'WhatsApp did not answer in a way that the service understands', {
      cause: error,
    })
  }
  const code = error.failure === 'not_found' ? 'SERVICE_GROUP_NOT_FOUND' : 'SERVICE_NETWORK_FAILED'
  return new BridgeError(code, error.message, { cause: error })
}

/** Whether the change may have been made although the call failed. */
export function isUncertain(error: unknown): boolean {
  return !(error instanceof BridgeError) && !(error instanceof GroupError && error.failure !== 'failed')
}

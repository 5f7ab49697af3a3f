// The refusal of a request that needs a connected account.

import { BridgeError } from '../core/errors.ts'
import type { InstanceState } from '../core/instance.ts'

export function notReady(state: InstanceState): BridgeError {
  const cures: Partial<Record<InstanceState, string>> = {
    logged_out: 'link the account again',
    qr_pending: 'link the account',
  }
  return new BridgeError('SERVICE_NOT_READY', `the instance is ${state}: ${cures[state] ?? 'wait until it is ready'}`)
}

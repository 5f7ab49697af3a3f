// What became of the attempt to reject a call of a customer.

import type { InstanceName, NetworkMessageId } from './ids.ts'

/** `unconfirmed`: the network did not confirm the rejection, so the call may have gone on ringing. */
export type CallOutcome = 'rejected' | 'unconfirmed'

/** Undefined for a call that the service did not try to reject. Waits for an attempt that is under way. */
export type CallOutcomeOf = (instance: InstanceName, callId: NetworkMessageId) => Promise<CallOutcome | undefined>

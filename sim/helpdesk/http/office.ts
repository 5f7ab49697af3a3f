// The parts that the routes use: the desk, the faults, the webhooks, and the logs of requests and refusals.

import type { Desk } from '../desk/desk.ts'
import type { FaultPlan } from '../faults/fault-plan.ts'
import type { EventLog } from '../../event-log.ts'
import type { FileAddresses } from '../json/file-addresses.ts'
import type { Watch } from '../watch.ts'
import type { WebhookDispatcher } from '../webhooks/webhook-dispatcher.ts'

/** A request that the real Chatwoot might accept or refuse. A test asserts that there was none. */
export type Refusal = {
  kind: 'unknown_route' | 'bad_request' | 'bad_response' | 'leaked_token' | 'bad_webhook'
  at: number
  method: string
  path: string
  reason: string
}

/** An answered request. */
export type Visit = { at: number; method: string; path: string; status: number }

export type Office = {
  desk: Desk
  files: FileAddresses & { readonly storageUrl: string }
  faults: FaultPlan
  webhooks: WebhookDispatcher
  refusals: EventLog<Refusal>
  visits: EventLog<Visit>
  /** The tokens of people. Faults spare their requests. */
  agentTokens: Set<string>
  watch: Pick<Watch, 'changed'>
}

export function refuse(office: Office, refusal: Omit<Refusal, 'at'>): void {
  office.refusals.add({ at: office.desk.clock.now(), ...refusal })
}

// What the routes work with: the desk, the faults, the webhooks, and the book of refusals.

import type { Desk } from '../desk/desk.ts'
import type { FaultPlan } from '../faults/fault-plan.ts'
import type { EventLog } from '../../event-log.ts'
import type { FileAddresses } from '../json/file-addresses.ts'
import type { Watch } from '../watch.ts'
import type { WebhookDispatcher } from '../webhooks/webhook-dispatcher.ts'

/** A request the real one might have let pass or might not: a test asserts that there was none. */
export type Refusal = {
  kind: 'unknown_route' | 'bad_request' | 'bad_response' | 'leaked_token' | 'bad_webhook'
  at: number
  method: string
  path: string
  reason: string
}

/** One line per request that was answered. */
export type Visit = { at: number; method: string; path: string; status: number }

export type Office = {
  desk: Desk
  files: FileAddresses & { readonly storageUrl: string }
  faults: FaultPlan
  webhooks: WebhookDispatcher
  refusals: EventLog<Refusal>
  visits: EventLog<Visit>
  /** Tokens of people, whom faults spare. */
  agentTokens: Set<string>
  watch: Pick<Watch, 'changed'>
}

export function refuse(office: Office, refusal: Omit<Refusal, 'at'>): void {
  office.refusals.add({ at: office.desk.clock.now(), ...refusal })
}

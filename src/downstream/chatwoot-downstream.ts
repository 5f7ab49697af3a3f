// The helpdesk port over Chatwoot: one HTTP client and one set of circuit breakers for all destinations.

import type { DownloadedFile, Downstream, HelpdeskInbox, InboxAccess } from '../core/downstream.ts'
import type { AccountAccess, HelpdeskAccount } from '../core/helpdesk/helpdesk-account.ts'
import { noTraces } from '../core/trace/traces.ts'
import type { Traces } from '../core/trace/traces.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import { systemClock } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { Egress } from '../lib/egress/egress.ts'
import { publicOnly } from '../lib/egress/policy.ts'
import { SingleFlight } from '../lib/queues/single-flight.ts'
import { Breakers } from './breaker.ts'
import type { Resting } from './breaker.ts'
import { ChatwootAccount } from './chatwoot-account.ts'
import { ChatwootClient } from './chatwoot-client.ts'
import type { ClientDeps } from './chatwoot-client.ts'
import { ChatwootInbox } from './chatwoot-inbox.ts'
import { chatwootLimits } from './limits.ts'
import { fetchMedia } from './media-fetch.ts'

// For all accounts together; each account fetches at most eight.
const filesAtOnce = 64

// Longer than the pause between two probes of an inbox that is in use.
const identifierMs = 30 * 60_000

export type ChatwootOptions = {
  clock?: Clock
  /** DOWNSTREAM_TIMEOUT */
  timeoutMs: number
  /** SERVICE_EGRESS_ALLOW */
  egressAllow: readonly string[]
  /** SERVICE_MEDIA_MAX_BYTES */
  mediaMaxBytes: number
  traces?: Pick<Traces, 'within'>
}

export class ChatwootDownstream implements Downstream {
  readonly limits = chatwootLimits
  readonly #egress: Egress
  /** For files only: files take long, and calls must not wait for their connections. */
  readonly #fileEgress: Egress
  readonly #clock: Clock
  readonly #options: ChatwootOptions
  readonly #clientDeps: ClientDeps
  readonly #flights = new SingleFlight()
  readonly #uncertain: BoundedMap<true>

  constructor(options: ChatwootOptions) {
    const { clock = systemClock, traces = noTraces, timeoutMs, egressAllow } = options
    this.#options = options
    this.#clock = clock
    const policy = publicOnly(egressAllow)
    this.#egress = new Egress({ policy, clock })
    this.#fileEgress = new Egress({ policy, clock, connectionsPerOrigin: filesAtOnce })
    this.#clientDeps = {
      egress: this.#egress,
      traces,
      breakers: new Breakers({ clock }),
      dropping: new Set(),
      identifiers: new BoundedMap({ clock, max: 10_000, ttlMs: identifierMs }),
      clock,
      timeoutMs,
    }
    this.#uncertain = new BoundedMap({ clock, max: 10_000, ttlMs: chatwootLimits.lateCommitMs })
  }

  helpdesk(access: InboxAccess): HelpdeskInbox {
    const client = new ChatwootClient(this.#clientDeps, access)
    return new ChatwootInbox({ client, flights: this.#flights, uncertain: this.#uncertain })
  }

  account(access: AccountAccess): HelpdeskAccount {
    return new ChatwootAccount(this.#clientDeps, access)
  }

  download(access: Pick<InboxAccess, 'baseUrl'> | null, url: string, signal: AbortSignal): Promise<DownloadedFile> {
    const { timeoutMs, mediaMaxBytes: maxBytes } = this.#options
    const deps = { egress: this.#fileEgress, clock: this.#clock, timeoutMs, maxBytes }
    return fetchMedia(deps, { origin: access && new URL(access.baseUrl).origin, url, signal })
  }

  /** Destinations that fail so often that they get no calls for a while. */
  get resting(): Resting[] {
    return this.#clientDeps.breakers.resting
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#egress[Symbol.asyncDispose](), this.#fileEgress[Symbol.asyncDispose]()])
  }
}

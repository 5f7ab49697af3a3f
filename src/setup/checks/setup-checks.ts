// The use cases behind the check of an instance: all checks that change nothing, and the round trip on request.

import { inboxPlace } from '../../core/downstream.ts'
import type { InstanceState } from '../../core/instance.ts'
import { SingleFlight } from '../../lib/queues/single-flight.ts'
import type { Routing } from '../../tenants/routing.ts'
import type { CallbackFaults } from './callback-faults.ts'
import { noDestination } from './destination-checks.ts'
import type { CheckedInstance, DestinationChecks } from './destination-checks.ts'
import { checkNames, fine, untested } from './finding.ts'
import type { Finding } from './finding.ts'
import { checkLink } from './network-checks.ts'
import type { ProcessChecks } from './process-checks.ts'
import type { RoundTrip } from './round-trip.ts'
import { destinationPart, processPart } from './setup-findings.ts'
import type { SetupFindings } from './setup-findings.ts'

type Account = {
  readonly state: InstanceState
  readonly record: CheckedInstance & { jid: string | null; lastError: string | null; networkProxy: string | null }
}

type Deps = {
  /** Throws for an unknown name. */
  instances: { get(name: string): Account }
  routing: Pick<Routing, 'accessOf' | 'accountOf'>
  destinations: Pick<DestinationChecks, 'run'>
  process: Pick<ProcessChecks, 'run'>
  roundTrip: Pick<RoundTrip, 'run'>
  faults: Pick<CallbackFaults, 'known'>
  findings: Pick<SetupFindings, 'note'>
}

/** `place` is the helpdesk inbox; null when there is none. */
type HelpdeskReport = { findings: Finding[]; version: string | null; place: string | null }

/** When one of these is broken, callbacks cannot work, and its cure comes first. */
const beforeRoundTrip: readonly string[] = [
  'helpdesk_configured',
  'helpdesk_reachable',
  'token',
  'account',
  'api_inbox',
  'webhook_address',
  'webhook_secret',
]
const ofHelpdesk = checkNames.slice(1, checkNames.indexOf('round_trip'))

export class SetupChecks {
  readonly #deps: Deps
  readonly #flights = new SingleFlight()
  readonly #stop = new AbortController()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Changes nothing anywhere. Of the round trip it tells only a fault that is known. */
  async check(name: string): Promise<Finding[]> {
    const { findings, place } = await this.#run(this.#deps.instances.get(name))
    const known = place === null || obstacleOf(findings) ? undefined : this.#deps.faults.known(name, place)
    return inOrder(known ? [...findings, known] : findings)
  }

  /** Also tests whether the callbacks of the helpdesk arrive. Callers that ask at the same time share the test. */
  async checkWithRoundTrip(name: string): Promise<Finding[]> {
    const account = this.#deps.instances.get(name)
    return this.#flights.run(name, async () => {
      const { findings, version } = await this.#run(account)
      const obstacle = obstacleOf(findings)
      const tested =
        obstacle || version === null
          ? untested('round_trip', obstacle?.sentence ?? 'Chatwoot does not tell its version')
          : await this.#deps.roundTrip.run(account.record, version, this.#stop.signal)
      return inOrder([...findings, tested])
    })
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
  }

  async #run(account: Account): Promise<HelpdeskReport> {
    const { process, findings } = this.#deps
    const { record, state } = account
    const [helpdesk, ofProcess] = await Promise.all([
      this.#checkHelpdesk(record),
      process.run(this.#stop.signal, account),
    ])
    // The way through its own proxy says nothing about other instances.
    const shared = ofProcess.filter(({ name }) => name !== 'whatsapp_reachable' || record.networkProxy === null)
    findings.note(processPart, shared)
    const { name, lastError, jid } = record
    const link = checkLink({ name, state, lastError, isLinked: jid !== null })
    return { ...helpdesk, findings: [...helpdesk.findings, link, ...ofProcess] }
  }

  /** What is found is shown in health at once. */
  async #checkHelpdesk(record: CheckedInstance): Promise<HelpdeskReport> {
    const { routing, destinations, findings } = this.#deps
    const access = await routing.accessOf(record)
    if (!access) {
      const rest = ofHelpdesk.map((name) => untested(name, 'no helpdesk inbox is configured'))
      return {
        findings: [noDestination(record.name, (await routing.accountOf(record)) !== null), ...rest],
        version: null,
        place: null,
      }
    }
    const report = await destinations.run(record, access)
    findings.note(destinationPart(access), report.findings)
    const configured = fine(
      'helpdesk_configured',
      `messages go to inbox ${access.inboxId} of account ${access.accountId}`,
    )
    return { ...report, place: inboxPlace(access), findings: [configured, ...report.findings] }
  }
}

function obstacleOf(findings: readonly Finding[]): Finding | undefined {
  return findings.find(({ name, result }) => result === 'broken' && beforeRoundTrip.includes(name))
}

function inOrder(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((one, other) => checkNames.indexOf(one.name) - checkNames.indexOf(other.name))
}

// Tests the access to a helpdesk account before or after it is stored: address, token, account, role, and which inboxes the
// account has. Nothing is stored, and nothing is changed at the helpdesk.

import { inboxPlace } from '../../core/downstream.ts'
import type { Downstream } from '../../core/downstream.ts'
import { BridgeError } from '../../core/errors.ts'
import type { AccountAccess, InboxSettings } from '../../core/helpdesk/helpdesk-account.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { signsCallbacks } from '../../downstream/versions.ts'
import { beginningOf } from '../../lib/text/beginning-of.ts'
import type { DestinationList } from '../../tenants/destination-list.ts'
import { askAccount } from './ask-helpdesk.ts'
import type { AccountFacts } from './ask-helpdesk.ts'
import { broken } from './finding.ts'
import type { Finding } from './finding.ts'
import { checkHelpdesk } from './helpdesk-checks.ts'
import type { Checked } from './helpdesk-checks.ts'
import type { HelpdeskVersions } from './helpdesk-versions.ts'

/** What is tested. `inboxId` is 0 while no inbox is chosen. */
export type TestedAccess = AccountAccess & {
  inboxId: number
  /** Whose setting names the inbox. */
  namedBy: Checked['namedBy']
  /** A secret for callbacks is configured. */
  hasSecret: boolean
}

export type TestedInbox = { id: number; name: string; usedBy: InstanceName[] }
export type AccessReport = { findings: Finding[]; inboxes: TestedInbox[] }

type Deps = {
  downstream: Pick<Downstream, 'account'>
  destinations: Pick<DestinationList, 'usersByPlace'>
  versions: Pick<HelpdeskVersions, 'note'>
  clock: Pick<Clock, 'monotonic'>
}

const testsPerMinute = 10
const minute = 60_000
/** Cures name the instance, and there is none yet. */
const noInstance = '<name>'
const longestName = 255

export class AccessTests {
  readonly #deps: Deps
  #startedAt: number[] = []

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async run(tested: TestedAccess): Promise<AccessReport> {
    this.#refuseTooMany()
    const { downstream, versions } = this.#deps
    const facts = await askAccount(downstream.account(tested), tested.inboxId)
    const version = facts.installation.answer?.version ?? null
    if (version !== null) versions.note(tested.baseUrl, version)
    return {
      findings: findingsOf(tested, facts),
      inboxes: await this.#toInboxes(tested, facts.inboxes?.answer ?? []),
    }
  }

  /** A caller could ask many addresses of the network of the service, one after the other. */
  #refuseTooMany(): void {
    const now = this.#deps.clock.monotonic()
    this.#startedAt = this.#startedAt.filter((at) => at > now - minute)
    const [oldest] = this.#startedAt
    if (oldest !== undefined && this.#startedAt.length >= testsPerMinute) {
      const retryAfterSeconds = Math.max(1, Math.ceil((oldest + minute - now) / 1000))
      const sentence = `at most ${testsPerMinute} helpdesks are tested in a minute: try again in ${retryAfterSeconds} s`
      throw new BridgeError('SERVICE_RATE_LIMITED', sentence, { retryAfterSeconds })
    }
    this.#startedAt.push(now)
  }

  /** Only API inboxes can be used. */
  async #toInboxes(account: AccountAccess, inboxes: readonly InboxSettings[]): Promise<TestedInbox[]> {
    const users = await this.#deps.destinations.usersByPlace()
    return inboxes
      .filter(({ isApi }) => isApi)
      .map(({ id, name }) => ({
        id,
        name: beginningOf(name, longestName),
        usedBy: users.get(inboxPlace({ ...account, inboxId: id })) ?? [],
      }))
  }
}

function findingsOf(tested: TestedAccess, facts: AccountFacts): Finding[] {
  const { namedBy, inboxId } = tested
  const hasSecret = tested.hasSecret || signsCallbacks(facts.installation.answer?.version ?? '')
  const checked = { access: tested, instance: noInstance, namedBy, hasSecret }
  const findings = checkHelpdesk(checked, facts).filter(({ name }) => name !== 'api_inbox' || inboxId > 0)
  const refusal = facts.inboxes?.error
  if (!refusal || findings.some(({ result }) => result === 'broken')) return findings
  const unlisted = broken(
    'account',
    `Chatwoot does not list the inboxes of account ${tested.accountId}: ${refusal.message}`,
    'look into the log of Chatwoot, and repeat the test',
  )
  return findings.map((each) => (each.name === 'account' ? unlisted : each))
}

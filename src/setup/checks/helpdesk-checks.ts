// Checks the helpdesk and the access to it: version, clock, token, account, role, and the kind of the inbox.

import type { InboxAccess } from '../../core/downstream.ts'
import type { InboxSettings } from '../../core/helpdesk/helpdesk-account.ts'
import { keepsSourceIds } from '../../downstream/versions.ts'
import { beginningOf } from '../../lib/text/beginning-of.ts'
import type { HelpdeskFacts } from './ask-helpdesk.ts'
import { advised, broken, fine, untested } from './finding.ts'
import type { Finding } from './finding.ts'

/** The inbox that is checked, and an instance that uses it. */
export type Checked = {
  access: InboxAccess
  /** Cures name it. */
  instance: string
  /** Whose setting names the inbox. */
  namedBy: 'tenant' | 'instance' | 'standard'
  /** The service has a secret, so it refuses callbacks without a valid signature. */
  hasSecret: boolean
}

const unauthorized = 401
/** Signatures are valid for five minutes. */
const signatureMs = 5 * 60_000
const noticeableMs = 60_000
/** Names and versions come from Chatwoot. */
const longestName = 100
const inboxSettings: Readonly<Record<Checked['namedBy'], string>> = {
  tenant: 'downstream_inbox_id of the tenant',
  instance: 'inbox_id of the instance',
  standard: 'DOWNSTREAM_INBOX_ID',
}
const repeat = 'look into the log of Chatwoot, and repeat the check'

/** Whether a check can be made: undefined, or why it cannot. */
type Obstacle = string | undefined

export function checkHelpdesk(checked: Checked, facts: HelpdeskFacts): Finding[] {
  return [
    checkReachable(checked, facts),
    checkClock(checked, facts),
    checkToken(facts),
    checkAccount(checked, facts),
    checkRole(checked, facts),
    checkApiInbox(checked, facts),
  ]
}

/** The inbox, or why its settings cannot be checked. */
export function usableInbox(facts: HelpdeskFacts): { inbox: InboxSettings } | { obstacle: string } {
  const inbox = facts.inbox?.answer
  const obstacle = reachObstacle(facts) ?? tokenObstacle(facts)
  if (obstacle !== undefined) return { obstacle }
  return inbox?.isApi ? { inbox } : { obstacle: 'there is no API inbox' }
}

function checkReachable({ access }: Checked, { installation }: HelpdeskFacts): Finding {
  const name = 'helpdesk_reachable'
  const where = new URL(access.baseUrl).origin
  if (installation.error) {
    const cure = `start Chatwoot, or set DOWNSTREAM_BASE_URL, or downstream_base_url of the tenant, to an address at which this machine reaches it`
    return broken(name, `Chatwoot cannot be used: ${installation.error.message}`, cure)
  }
  const version = beginningOf(installation.answer.version, longestName)
  if (keepsSourceIds(version)) return fine(name, `Chatwoot ${version} answers at ${where}`)
  return broken(
    name,
    `Chatwoot ${version} at ${where} is older than 3.4 and drops the ids of messages`,
    'update Chatwoot',
  )
}

function checkClock({ hasSecret }: Checked, { installation }: HelpdeskFacts): Finding {
  const name = 'clock'
  if (installation.error) return untested(name, 'Chatwoot cannot be used')
  const { aheadMs } = installation.answer
  if (aheadMs === null) return untested(name, 'Chatwoot does not tell its time')
  const seconds = Math.round(Math.abs(aheadMs) / 1000)
  const side = aheadMs > 0 ? 'ahead of' : 'behind'
  const cure = 'set the clocks of both machines, and keep them right with NTP'
  if (hasSecret && Math.abs(aheadMs) >= signatureMs) {
    const sentence = `the clock of Chatwoot is ${seconds} s ${side} ours: signed callbacks are refused, because signatures are valid for 300 s`
    return broken(name, sentence, cure)
  }
  if (Math.abs(aheadMs) >= noticeableMs) {
    return advised(name, `the clock of Chatwoot is ${seconds} s ${side} ours; signatures are valid for 300 s`, cure)
  }
  return fine(name, 'the clocks of Chatwoot and of this machine agree')
}

function checkToken(facts: HelpdeskFacts): Finding {
  const name = 'token'
  const { role } = facts
  if (!role) return untested(name, 'Chatwoot cannot be used')
  if (!role.error) return fine(name, 'Chatwoot accepts the API token')
  if (role.error.status !== unauthorized) {
    return broken(name, `Chatwoot does not say whose API token it is: ${role.error.message}`, repeat)
  }
  const cure =
    'copy the access token of an administrator (Chatwoot: Profile settings) into DOWNSTREAM_API_TOKEN, or into downstream_api_token of the tenant'
  return broken(name, role.error.message, cure)
}

function checkAccount({ access }: Checked, facts: HelpdeskFacts): Finding {
  const name = 'account'
  const obstacle = reachObstacle(facts) ?? tokenObstacle(facts)
  if (obstacle !== undefined) return untested(name, obstacle)
  const { accountId } = access
  if (facts.role?.answer === null) {
    const cure = `set DOWNSTREAM_ACCOUNT_ID, or downstream_account_id of the tenant, to the number in the address of the dashboard (/app/accounts/<number>), or add the owner of the token to account ${accountId}`
    return broken(name, `the owner of the API token does not belong to account ${accountId}`, cure)
  }
  // An administrator may use every inbox, so the refusal is about the account.
  if (isAdministrator(facts) && facts.inbox?.error?.status === unauthorized) {
    return broken(name, facts.inbox.error.message, 'ask the operator of Chatwoot to activate the account again')
  }
  return fine(name, `the owner of the API token belongs to account ${accountId}`)
}

function checkRole({ instance }: Checked, facts: HelpdeskFacts): Finding {
  const name = 'role'
  const obstacle = reachObstacle(facts) ?? tokenObstacle(facts) ?? accountObstacle(facts)
  if (obstacle !== undefined) return untested(name, obstacle)
  if (isAdministrator(facts)) return fine(name, 'the owner of the API token is an administrator')
  const sentence = `the owner of the API token is no administrator, but has the role ${beginningOf(facts.role?.answer ?? '', longestName)}: the service cannot read the secret of the inbox or change its settings`
  const cure = `make the owner of the token an administrator, or set the token of one; then POST /api/instances/${instance}/inbox`
  return advised(name, sentence, cure)
}

function checkApiInbox(checked: Checked, facts: HelpdeskFacts): Finding {
  const name = 'api_inbox'
  const obstacle = reachObstacle(facts) ?? tokenObstacle(facts) ?? accountObstacle(facts)
  if (obstacle !== undefined) return untested(name, obstacle)
  const { inboxId, accountId } = checked.access
  const { answer: inbox, error } = facts.inbox ?? {}
  if (error?.status === unauthorized) {
    const cure = `make the owner of the token an administrator, or a member of inbox ${inboxId}`
    return isAdministrator(facts) ? untested(name, 'the account refuses') : broken(name, error.message, cure)
  }
  if (error) return broken(name, `Chatwoot does not show inbox ${inboxId}: ${error.message}`, repeat)
  if (!inbox) return broken(name, `account ${accountId} has no inbox ${inboxId}`, inboxCure(checked, true))
  const shown = `inbox ${inboxId} (${beginningOf(inbox.name, longestName)})`
  return inbox.isApi
    ? fine(name, `${shown} is an API inbox`)
    : broken(name, `${shown} is no API inbox`, inboxCure(checked, false))
}

/** The set-up call replaces only an inbox that is missing and that the record of the instance names. */
function inboxCure({ instance, namedBy }: Checked, isMissing: boolean): string {
  const create = `POST /api/instances/${instance}/inbox creates one`
  const set = `set ${inboxSettings[namedBy]} to the id of an API inbox`
  return isMissing && namedBy === 'instance' ? `${create}; or ${set}` : `${set}; or set it to 0, then ${create}`
}

export function isAdministrator({ role }: HelpdeskFacts): boolean {
  return role?.answer === 'administrator'
}

function reachObstacle({ installation }: HelpdeskFacts): Obstacle {
  return installation.error ? 'Chatwoot cannot be used' : undefined
}

function tokenObstacle({ role }: HelpdeskFacts): Obstacle {
  return role?.error ? 'Chatwoot does not accept the API token' : undefined
}

function accountObstacle({ role }: HelpdeskFacts): Obstacle {
  return role?.answer === null ? 'the owner of the API token does not belong to the account' : undefined
}

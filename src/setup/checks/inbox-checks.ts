// Checks the settings of a helpdesk inbox: its webhook address, its secret, and whether it fits the conversation mode.

import type { InboxSettings } from '../../core/helpdesk/helpdesk-account.ts'
import { advised, broken, fine, untested } from './finding.ts'
import type { Finding } from './finding.ts'
import { beginningOf } from '../../lib/text/beginning-of.ts'
import type { InboxUse } from '../inbox-use.ts'
import { isCallable, leadsTo, parseWebhookAddress, shownAddress } from '../webhook-address.ts'
import type { WebhookAddress } from '../webhook-address.ts'

export type InboxFacts = {
  inbox: InboxSettings
  /** An instance that uses the inbox; cures name it. */
  instance: string
  /** SERVICE_PUBLIC_URL */
  publicUrl: string | null
  /** How the instance that the address names uses the inbox; `none` when there is no such instance. */
  use: InboxUse
  isAdministrator: boolean
  /** Every secret that a callback of this inbox may be signed with. */
  secrets: readonly string[]
  /** The conversation mode of the instance. */
  mode: 'new' | 'reopen'
}

const longestAddress = 300

export function checkInbox(facts: InboxFacts): Finding[] {
  return [checkAddress(facts), checkSecret(facts), checkMode(facts)]
}

function checkAddress(facts: InboxFacts): Finding {
  const name = 'webhook_address'
  const { inbox, instance, publicUrl, use } = facts
  const address = inbox.webhookUrl
  const named = parseWebhookAddress(address)
  const cure = addressCure(instance, publicUrl)
  const lost = 'so answers of agents do not reach the service'
  if (address.trim() === '') {
    return broken(name, `inbox ${inbox.id} has no webhook address, ${lost}, although Chatwoot shows them as sent`, cure)
  }
  if (!isCallable(address)) {
    return broken(name, `the webhook address of inbox ${inbox.id} is no URL that Chatwoot can call, ${lost}`, cure)
  }
  const shown = beginningOf(shownAddress(address), longestAddress)
  const takeOver = `${cure} with {"force": true}`
  if (!named) {
    // The path of another program may be its secret.
    const { origin } = new URL(address)
    return broken(name, `the webhook address of inbox ${inbox.id} leads elsewhere (${origin}), ${lost}`, takeOver)
  }
  if (use === 'none') {
    const isOurs = publicUrl !== null && leadsTo(named, publicUrl)
    return broken(name, `the webhook address ${shown} names an unknown instance, ${lost}`, isOurs ? cure : takeOver)
  }
  if (use === 'other') {
    return broken(
      name,
      `the webhook address ${shown} names an instance that does not use this inbox, ${lost}`,
      takeOver,
    )
  }
  return checkBase(facts, named)
}

/** The address names an instance that uses the inbox. */
function checkBase({ inbox, instance, publicUrl }: InboxFacts, named: WebhookAddress): Finding {
  const name = 'webhook_address'
  const shown = beginningOf(shownAddress(inbox.webhookUrl), longestAddress)
  if (publicUrl === null) {
    return fine(
      name,
      `the webhook address ${shown} names an instance; its host is not tested without SERVICE_PUBLIC_URL`,
    )
  }
  if (!leadsTo(named, publicUrl)) {
    const cure = `${addressCure(named.instance, publicUrl)} repairs it; or set SERVICE_PUBLIC_URL to the address that Chatwoot uses`
    return broken(name, `the webhook address ${shown} does not begin with SERVICE_PUBLIC_URL`, cure)
  }
  const shared = named.instance === instance ? '' : `; the inbox is shared with instance ${named.instance}`
  return fine(name, `the webhook address is ours${shared}`)
}

function addressCure(instance: string, publicUrl: string | null): string {
  const setUrl = 'set SERVICE_PUBLIC_URL to the address at which Chatwoot reaches this service, then '
  return `${publicUrl === null ? setUrl : ''}POST /api/instances/${instance}/inbox`
}

/** Shows no secret. */
function checkSecret({ inbox, instance, isAdministrator, secrets }: InboxFacts): Finding {
  const name = 'webhook_secret'
  if (!isAdministrator) return untested(name, 'Chatwoot shows the secret only to administrators')
  const cure = `POST /api/instances/${instance}/inbox reads the secret; or set it as WEBHOOK_HMAC_SECRET, or as webhook_hmac_secret of the tenant`
  if (inbox.secret === null) {
    if (secrets.length === 0)
      return fine(name, 'this Chatwoot does not sign its callbacks: 4.13 is the first that does')
    const sentence = 'this Chatwoot does not sign its callbacks, but the service has a secret and refuses unsigned ones'
    const unsign = `POST /api/instances/${instance}/inbox forgets a secret that is stored for the inbox; remove WEBHOOK_HMAC_SECRET, or webhook_hmac_secret of the tenant; or update Chatwoot to 4.13; or let a proxy add X-Service-Signature`
    return advised(name, sentence, unsign)
  }
  if (secrets.includes(inbox.secret)) return fine(name, 'the service knows the secret that signs the callbacks')
  if (secrets.length === 0) {
    return advised(name, 'the service knows no secret, so it accepts callbacks of any sender', cure)
  }
  return broken(name, 'the service does not know the secret of the inbox, so it refuses its callbacks', cure)
}

function checkMode({ inbox, instance, mode }: InboxFacts): Finding {
  const name = 'conversation_mode'
  const isLocked = inbox.isLockedToSingleConversation
  if (isLocked === (mode === 'reopen'))
    return fine(name, `the inbox fits the conversation mode ${mode} of the instance`)
  const sentence = isLocked
    ? 'the inbox keeps one conversation for each contact, but the conversation mode of the instance is new: no new conversation is opened after a resolve'
    : 'the conversation mode of the instance is reopen, but agents can open a second conversation of a contact in the inbox'
  const other = isLocked ? 'reopen' : 'new'
  const cure = `POST /api/instances/${instance}/inbox with {"force": true} changes the inbox; or set conversation_mode of the instance, or SERVICE_CONVERSATION_MODE, to ${other}`
  return advised(name, sentence, cure)
}

// Makes the checks of one helpdesk inbox. They ask the helpdesk and change nothing there.

import type { Downstream, InboxAccess } from '../../core/downstream.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Routing } from '../../tenants/routing.ts'
import { askHelpdesk } from './ask-helpdesk.ts'
import { broken, untested } from './finding.ts'
import type { Finding } from './finding.ts'
import { checkHelpdesk, isAdministrator, usableInbox } from './helpdesk-checks.ts'
import type { HelpdeskVersions } from './helpdesk-versions.ts'
import { checkInbox } from './inbox-checks.ts'
import type { InboxFacts } from './inbox-checks.ts'
import { findInboxUse } from '../inbox-use.ts'
import { parseWebhookAddress } from '../webhook-address.ts'

/** What routing needs to know of an instance, and its name. */
export type CheckedInstance = { name: string; ownerTag: string; inboxId: number }

type Deps = {
  downstream: Pick<Downstream, 'account'>
  routing: Pick<Routing, 'accessOf' | 'accountOf'>
  /** Every secret that may sign the callbacks of an instance. */
  secretsOf: (instance: CheckedInstance) => Promise<readonly string[]>
  find: (name: string) => Promise<CheckedInstance | undefined>
  publicUrl: InboxFacts['publicUrl']
  modeOf: (instance: InstanceName) => InboxFacts['mode']
  versions: Pick<HelpdeskVersions, 'note'>
}

/** `version` is null when the helpdesk does not tell it. */
export type DestinationReport = { findings: Finding[]; version: string | null }

/** The first of them counts. */
const inboxSources = ['tenant', 'instance', 'standard'] as const
const inboxChecks = ['webhook_address', 'webhook_secret', 'conversation_mode'] as const

export class DestinationChecks {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** `access` is where the messages of the instance go. */
  async run(instance: CheckedInstance, access: InboxAccess): Promise<DestinationReport> {
    const facts = await askHelpdesk(this.#deps.downstream.account(access), access.inboxId)
    const usable = usableInbox(facts)
    const settings =
      'inbox' in usable
        ? checkInbox({
            publicUrl: this.#deps.publicUrl,
            mode: this.#deps.modeOf(instance.name),
            inbox: usable.inbox,
            instance: instance.name,
            isAdministrator: isAdministrator(facts),
            secrets: await this.#deps.secretsOf(instance),
            use: await findInboxUse(this.#deps, parseWebhookAddress(usable.inbox.webhookUrl)?.instance ?? '', access),
          })
        : inboxChecks.map((name) => untested(name, usable.obstacle))
    const hasSecret = (await this.#deps.secretsOf(instance)).length > 0
    const inboxes = (await this.#deps.routing.accountOf(instance))?.inboxes
    const namedBy = inboxSources.find((source) => inboxes && inboxes[source] > 0) ?? 'instance'
    const checked = { access, instance: instance.name, namedBy, hasSecret }
    const findings = [...checkHelpdesk(checked, facts), ...settings]
    const version = facts.installation.answer?.version ?? null
    if (version !== null) this.#deps.versions.note(access.baseUrl, version)
    return { findings, version }
  }
}

/** The finding for an instance whose messages have no destination. `hasHelpdesk`: only the inbox is missing. */
export function noDestination(instance: string, hasHelpdesk: boolean): Finding {
  const access = hasHelpdesk ? '' : 'set DOWNSTREAM_BASE_URL and DOWNSTREAM_API_TOKEN, or those of the tenant; then '
  const cure = `${access}POST /api/instances/${instance}/inbox creates a helpdesk inbox`
  const missing = hasHelpdesk ? 'no helpdesk inbox' : 'no helpdesk'
  const sentence = `${missing} is configured for this instance: received messages are stored and wait`
  return broken('helpdesk_configured', sentence, cure)
}

// Connects an instance with a helpdesk inbox: makes the inbox, adds members, keeps its secret, and stores its id. Every step
// may be repeated, so the next set-up finishes one that broke off.

import type { Caller } from '../core/audit.ts'
import { accountPlace, DownstreamError } from '../core/downstream.ts'
import type { Downstream } from '../core/downstream.ts'
import { BridgeError } from '../core/errors.ts'
import type { AccountAccess, HelpdeskAccount } from '../core/helpdesk/helpdesk-account.ts'
import type { InstanceName } from '../core/ids.ts'
import type { InstanceRegistry } from '../instances/instance-registry.ts'
import type { InstanceService } from '../instances/service/instance-service.ts'
import type { Roster } from '../instances/roster/roster.ts'
import { KeyedLanes } from '../lib/queues/keyed-lanes.ts'
import type { Log } from '../lib/log.ts'
import type { InboxIdentities } from '../tenants/inbox-identities.ts'
import type { AccountRoute, Routing } from '../tenants/routing.ts'
import type { WebhookSecrets } from '../tenants/webhook-secrets.ts'
import { chooseInbox } from './choose-inbox.ts'
import type { InboxAction, InboxMaker, MadeInbox } from './inbox-maker.ts'
import { addMembers, refuseUnknownMembers } from './inbox-members.ts'
import type { MembersRequest } from './inbox-members.ts'
import { findInboxUse } from './inbox-use.ts'
import { shownAddress } from './webhook-address.ts'

export type InboxRequest = {
  /** The name of a new helpdesk inbox; null: that of the instance. */
  name: string | null
  inboxId: number | null
  /** Null: all for a new helpdesk inbox, none for one that exists. */
  members: MembersRequest | null
  force: boolean
}

export type InboxOutcome = {
  inboxId: number
  name: string
  /** Without a password that it may hold. */
  webhookUrl: string
  action: InboxAction
  /** Callbacks go to another instance, which has the same helpdesk inbox. */
  isShared: boolean
  hasSecret: boolean
  members: number
}

type Route = { ownerTag: string; inboxId: number }
type Reached = AccountRoute & { client: HelpdeskAccount; publicUrl: string }

type Deps = {
  registry: Pick<InstanceRegistry, 'get'>
  roster: Pick<Roster, 'findCurrent'>
  instances: Pick<InstanceService, 'connectInbox'>
  routing: Pick<Routing, 'accountOf' | 'accessOf'>
  downstream: Pick<Downstream, 'account'>
  identities: Pick<InboxIdentities, 'forget' | 'identify'>
  secrets: Pick<WebhookSecrets, 'keep'>
  maker: InboxMaker
  settings: { publicUrl: string | null; modeOf: (instance: InstanceName) => 'new' | 'reopen' }
  log: Log
}

export class InboxSetup {
  readonly #deps: Deps
  /** One set-up at a time for each account of a helpdesk: two of them must not create the same inbox. */
  readonly #lanes = new KeyedLanes()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Refuses a set-up that cannot succeed, and changes nothing. */
  async assertPossible(route: Route, asked: Pick<InboxRequest, 'inboxId'>): Promise<void> {
    await explained(async () => {
      chooseInbox(await this.#reach(route), asked.inboxId)
    })
  }

  async setUp(name: InstanceName, request: InboxRequest, actor: Caller): Promise<InboxOutcome> {
    const { account } = this.#configured(await this.#deps.routing.accountOf(this.#deps.registry.get(name).record))
    return this.#lanes.run(accountPlace(account), () => explained(() => this.#setUpNow(name, request, actor)))
  }

  async #setUpNow(name: InstanceName, request: InboxRequest, actor: Caller): Promise<InboxOutcome> {
    const { registry, roster, routing, maker, instances, log, settings } = this.#deps
    const find = async (other: InstanceName) => (await roster.findCurrent(other))?.record
    const reached = await this.#reach(registry.get(name).record)
    const { account, client, publicUrl } = reached
    const chosen = chooseInbox(reached, request.inboxId)
    await refuseUnknownMembers(client, request.members)
    const made = await maker.make({
      instance: name,
      accountPlace: accountPlace(account),
      account: client,
      chosen,
      name: request.name ?? name,
      publicUrl,
      isLocked: settings.modeOf(name) === 'reopen',
      force: request.force,
      useBy: (other, inboxId) => findInboxUse({ find, routing }, other, { ...account, inboxId }),
    })
    const { inbox, action, isShared } = made
    const members = await addMembers(client, inbox.id, request.members ?? (await usualMembers(client, made)))
    const hasSecret = await this.#keepSecret(account, inbox)
    const facts = { inbox_id: inbox.id, action, shared: isShared, secret_stored: hasSecret, members }
    const inboxId = chosen?.source === 'tenant' ? null : inbox.id
    await instances.connectInbox(name, inboxId, { ...facts, force: request.force }, actor)
    log.info({ instance: name, ...facts }, 'a helpdesk inbox is set up')
    const webhookUrl = shownAddress(inbox.webhookUrl)
    return { inboxId: inbox.id, name: inbox.name, webhookUrl, action, isShared, hasSecret, members }
  }

  async #reach(route: Route): Promise<Reached> {
    const { routing, downstream, settings } = this.#deps
    const { publicUrl } = settings
    if (publicUrl === null) {
      throw new BridgeError(
        'SERVICE_NO_PUBLIC_URL',
        'the helpdesk cannot be told where to call this service: set SERVICE_PUBLIC_URL to the base URL at which it reaches it',
      )
    }
    const found = this.#configured(await routing.accountOf(route))
    const client = downstream.account(found.account)
    await assertAdministrator(client, found.account)
    return { ...found, client, publicUrl }
  }

  #configured(found: AccountRoute | null): AccountRoute {
    if (found) return found
    throw new BridgeError(
      'SERVICE_NO_HELPDESK',
      'no helpdesk is configured for this instance: set DOWNSTREAM_BASE_URL and DOWNSTREAM_API_TOKEN, ' +
        'or give the instance the owner_tag of a tenant',
    )
  }

  /** Before the instance gets the helpdesk inbox: no callback of it is then accepted without a signature. */
  async #keepSecret(account: AccountAccess, { id: inboxId, secret }: MadeInbox['inbox']): Promise<boolean> {
    const { identities, secrets } = this.#deps
    const access = { ...account, inboxId }
    identities.forget(access)
    const { key } = await identities.identify(access)
    await secrets.keep(key, secret)
    return secret !== null
  }
}

/** A helpdesk inbox without members that was found by its address is one that an earlier set-up did not finish. */
async function usualMembers(client: HelpdeskAccount, { action, isFound, inbox }: MadeInbox): Promise<MembersRequest> {
  if (action === 'created') return 'all'
  return isFound && (await client.memberIds(inbox.id)).length === 0 ? 'all' : 'none'
}

async function assertAdministrator(client: HelpdeskAccount, { baseUrl, accountId }: AccountAccess): Promise<void> {
  const role = await client.role()
  if (role === 'administrator') return
  const where = `account ${accountId} at ${new URL(baseUrl).origin}`
  const who =
    role === null ? `does not belong to ${where}` : `is no administrator of ${where}, but has the role ${role}`
  throw new BridgeError(
    'SERVICE_NOT_ADMINISTRATOR',
    `the owner of the API token ${who}: set the token of an administrator (DOWNSTREAM_API_TOKEN, or that of the tenant)`,
  )
}

async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DownstreamError)) throw error
    throw new BridgeError('SERVICE_HELPDESK_FAILED', error.message, { cause: error })
  }
}

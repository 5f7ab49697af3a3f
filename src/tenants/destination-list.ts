// Lists the helpdesk inboxes that instances use or tenants and settings name, and the helpdesks that have no inbox yet.

import { accountPlace, inboxPlace } from '../core/downstream.ts'
import type { InboxAccess } from '../core/downstream.ts'
import type { InstanceName } from '../core/ids.ts'
import type { Tenant } from '../core/tenant.ts'
import { getOrCreate } from '../lib/keyed.ts'
import type { DefaultDestination, Routing } from './routing.ts'

export type ListedDestination = {
  /** The helpdesk inbox as operators see it; the account while `inboxId` is 0. */
  place: string
  /** The tenant that names it; null for the settings of the service. */
  ownerTag: string | null
  baseUrl: string
  accountId: number
  /** 0: no inbox is set up there yet. */
  inboxId: number
  instances: InstanceName[]
}

type Deps = {
  roster: { current(): Promise<readonly { record: { name: InstanceName; ownerTag: string; inboxId: number } }[]> }
  routing: Pick<Routing, 'accessOf'>
  tenants: { list(): Promise<Tenant[]> }
  standard: Pick<DefaultDestination, 'baseUrl' | 'apiToken' | 'accountId' | 'inboxId'>
}

type Named = Omit<InboxAccess, 'apiToken'>

export class DestinationList {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The default first, then by owner tag and inbox. */
  async read(): Promise<ListedDestination[]> {
    const { roster, routing, tenants, standard } = this.#deps
    const [all, instances] = await Promise.all([tenants.list(), roster.current()])
    const tags = new Set(all.map(({ ownerTag }) => ownerTag))
    const listed = new Map<string, ListedDestination>()
    const listAt = (ownerTag: string | null, named: Named) =>
      getOrCreate(listed, JSON.stringify([ownerTag, placeOf(named)]), () => toListed(ownerTag, named))
    const records = instances.map(({ record }) => record)
    const accesses = await Promise.all(records.map((record) => routing.accessOf(record)))
    for (const [index, { name, ownerTag }] of records.entries()) {
      const access = accesses[index]
      if (access) listAt(tags.has(ownerTag) ? ownerTag : null, access).instances.push(name)
    }
    const { baseUrl, apiToken, accountId, inboxId } = standard
    const configured: [string | null, Named][] = all.map((tenant) => [tenant.ownerTag, tenant])
    if (baseUrl !== null && apiToken !== '') configured.push([null, { baseUrl, accountId, inboxId }])
    for (const [ownerTag, named] of configured) {
      const isListed = [...listed.values()].some((each) => each.ownerTag === ownerTag)
      if (named.inboxId > 0 || !isListed) listAt(ownerTag, named)
    }
    return [...listed.values()].sort(inOrder)
  }

  /** Which instances use each helpdesk inbox, by its place. */
  async usersByPlace(): Promise<Map<string, InstanceName[]>> {
    const users = new Map<string, InstanceName[]>()
    for (const { place, instances } of await this.read()) {
      getOrCreate(users, place, () => [] as InstanceName[]).push(...instances)
    }
    return users
  }
}

function placeOf(named: Named): string {
  return named.inboxId > 0 ? inboxPlace(named) : accountPlace(named)
}

function toListed(ownerTag: string | null, named: Named): ListedDestination {
  const { baseUrl, accountId, inboxId } = named
  return { place: placeOf(named), ownerTag, baseUrl, accountId, inboxId, instances: [] }
}

function inOrder(one: ListedDestination, other: ListedDestination): number {
  const [first, second] = [one.ownerTag ?? '', other.ownerTag ?? '']
  if (first !== second) return first < second ? -1 : 1
  return one.inboxId - other.inboxId
}

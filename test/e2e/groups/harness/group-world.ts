// A world with an account that manages a group, and the calls of the group endpoints.

import type { SimGroup } from '../../../../sim/network/groups/sim-group.ts'
import type { SimPerson } from '../../../../sim/network/people/sim-person.ts'
import { assertDocumented } from '../../../harness/documented-statuses.ts'
import type { Answer } from '../../../harness/http-request.ts'
import { apiToken } from '../../../harness/service.ts'
import type { World } from '../../../harness/world.ts'

export type Call = { method: string; path: string; body?: unknown }

export type AuditEntry = { action: string; instance: string; target: string; metadata: Record<string, unknown> }

export class GroupWorld<Around extends World> {
  readonly world: Around
  readonly bob: SimPerson
  readonly eve: SimPerson

  constructor(world: Around) {
    this.world = world
    const known = 'bob' in world ? (world.bob as SimPerson) : undefined
    this.bob = known ?? world.network.person({ phone: '5511888880001', lid: '200000000000001', pushName: 'Bob' })
    this.eve = world.network.person({ phone: '5511888880002', lid: '200000000000002', pushName: 'Eve' })
  }

  /** The account created the group; Bob is a member. */
  ownGroup(subject = 'Team'): SimGroup {
    return this.world.network.group(subject, this.world.phone, [this.bob])
  }

  /** Bob created the group; the account is a member. */
  bobsGroup(subject = 'Crew'): SimGroup {
    return this.world.network.group(subject, this.bob, [this.world.phone, this.eve])
  }

  /** A call below /api/instances/n0/groups. */
  call({ method, path, body }: Call, instance = 'n0'): Promise<Answer> {
    const options = body === undefined ? {} : { body }
    return this.world.service.request(method, `/api/instances/${instance}/groups${path}`, options)
  }

  post(path: string, body: unknown): Promise<Answer> {
    return this.call({ method: 'POST', path, body })
  }

  get(path: string): Promise<Answer> {
    return this.call({ method: 'GET', path })
  }

  /** Sends a form with one field. */
  async postForm(
    path: string,
    field: string,
    content: Uint8Array | string,
  ): Promise<{ status: number; body: unknown }> {
    const form = new FormData()
    if (typeof content === 'string') form.set(field, content)
    else form.set(field, new File([new Uint8Array(content)], 'picture.jpg'))
    const encoded = new Response(form)
    const body = Buffer.from(await encoded.arrayBuffer())
    const headers = { 'content-type': encoded.headers.get('content-type') ?? '' }
    return this.postBytes(path, body, headers)
  }

  async postBytes(
    path: string,
    body: Uint8Array,
    headers: Record<string, string>,
  ): Promise<{ status: number; body: unknown }> {
    const { url } = this.world.service.app
    const whole = `/api/instances/n0/groups${path}`
    const init = { headers: { authorization: `Bearer ${apiToken}`, ...headers }, body: new Uint8Array(body) }
    const response = await fetch(`${url}${whole}`, { method: 'POST', ...init })
    await assertDocumented(url, { method: 'POST', path: whole, status: response.status })
    return { status: response.status, body: await response.json() }
  }

  async audit(): Promise<AuditEntry[]> {
    const { body } = await this.world.service.get('/api/audit?instance=n0')
    const { entries } = body as { entries: AuditEntry[] }
    return entries
      .filter(({ action }) => action.startsWith('group.'))
      .map(({ action, instance, target, metadata }) => ({ action, instance, target, metadata }))
      .reverse()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.world[Symbol.asyncDispose]()
  }
}

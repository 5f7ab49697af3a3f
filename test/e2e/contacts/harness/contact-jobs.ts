// Requests about jobs of contacts, and what tests look at afterwards.

import assert from 'node:assert/strict'
import type { SeenContact } from '../../../../sim/helpdesk/snapshots.ts'
import type { SimPerson } from '../../../../sim/network/people/sim-person.ts'
import type { Answer } from '../../../harness/http-request.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import type { World } from '../../../harness/world.ts'
import { counted } from '../../sync/harness/named-contacts.ts'

export type JobBody = {
  id: string
  type: string
  status: string
  progress: Record<string, number | string | null>
  error: string | null
  result: Record<string, number> | null
}

export type Asked = { only?: unknown; create?: unknown }
type Served = { service: Pick<World['service'], 'get' | 'request'> }

export function askImport({ service }: Served, body?: unknown, instance = 'n0'): Promise<Answer> {
  return service.request('POST', `/api/instances/${instance}/contacts/import`, body === undefined ? {} : { body })
}

/** Returns the id of the job. */
export async function startImport(world: Served, asked?: Asked, instance = 'n0'): Promise<string> {
  const { status, body } = await askImport(world, asked, instance)
  assert.equal(status, 202, JSON.stringify(body))
  return (body as { job_id: string }).job_id
}

export async function jobOf({ service }: Served, id: string): Promise<JobBody> {
  return (await service.get(`/api/jobs/${id}`)).body as JobBody
}

export async function completed(world: Served, id: string): Promise<JobBody> {
  let seen: JobBody | undefined
  const holds = async () => {
    seen = await jobOf(world, id)
    return seen.status !== 'pending' && seen.status !== 'running'
  }
  await waitUntil('the job has ended', holds, { instead: () => seen })
  assert.equal(seen?.status, 'completed', JSON.stringify(seen))
  return seen
}

/** Runs an import to its end and returns its result. */
export async function importContacts(world: Served, asked?: Asked): Promise<JobBody['result']> {
  return (await completed(world, await startImport(world, asked))).result
}

/** Saves people in the address book of the phone, and waits until the service has their names. `before` were saved already. */
export async function saveAll(
  world: World,
  saved: readonly (readonly [SimPerson, string])[],
  before = 0,
): Promise<void> {
  for (const [person, name] of saved) world.phone.saveContact(person, name)
  await counted(world, { skip_fullsync: before + saved.length })
}

export function contactCalled({ helpdesk }: World, name: string): SeenContact {
  const [found, ...more] = helpdesk.see.contacts().filter((each) => each.name === name)
  assert.ok(found && more.length === 0, `one contact is called ${name}`)
  return found
}

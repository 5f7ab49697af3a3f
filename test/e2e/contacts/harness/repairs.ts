// Requests for repairs of contacts, and what tests look at afterwards.

import assert from 'node:assert/strict'
import type { SimHelpdesk } from '../../../../sim/helpdesk/sim-helpdesk.ts'
import type { RepairFinding } from '../../../../src/core/jobs/contacts-jobs.ts'
import type { Database } from '../../../../src/storage/database.ts'
import { LeaseStore } from '../../../../src/storage/stores/lease-store.ts'
import { PeopleStore } from '../../../../src/storage/stores/people/people-store.ts'
import type { Answer } from '../../../harness/http-request.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import { holdOf } from '../../../harness/holds.ts'

type Served = {
  service: {
    get(path: string): Promise<Answer>
    request(method: string, path: string, options?: { body?: unknown }): Promise<Answer>
  }
}

export type RepairJobBody = {
  id: string
  type: string
  status: string
  progress: { done: number; total: number; errors: number; estimated_end_at: string | null }
  error: string | null
  result: {
    scanned: number
    pairs: number
    merged: number
    skipped: number
    errors: number
    listed: RepairFinding[]
  } | null
}

export function askRepair({ service }: Served, body?: unknown, instance = 'n0'): Promise<Answer> {
  return service.request('POST', `/api/instances/${instance}/contacts/repair`, body === undefined ? {} : { body })
}

/** Returns the id of the job. */
export async function startRepair(world: Served, dryRun = false, instance = 'n0'): Promise<string> {
  const { status, body } = await askRepair(world, { dry_run: dryRun }, instance)
  assert.equal(status, 202, JSON.stringify(body))
  return (body as { job_id: string }).job_id
}

export async function repairOf({ service }: Served, id: string): Promise<RepairJobBody> {
  return (await service.get(`/api/jobs/${id}`)).body as RepairJobBody
}

export async function endOf(world: Served, id: string): Promise<RepairJobBody> {
  let seen: RepairJobBody | undefined
  const holds = async () => {
    seen = await repairOf(world, id)
    return seen.status !== 'pending' && seen.status !== 'running'
  }
  await waitUntil('the job has ended', holds, { timeoutMs: 300_000, instead: () => seen })
  assert.ok(seen)
  return seen
}

/** Runs a repair to its end and returns its result. */
export async function repair(world: Served, dryRun = false, instance = 'n0') {
  const job = await endOf(world, await startRepair(world, dryRun, instance))
  assert.equal(job.status, 'completed', JSON.stringify(job))
  assert.ok(job.result)
  return job.result
}

/** Everything that a repair could change at the helpdesk. */
export function stateOf({ see }: SimHelpdesk) {
  return structuredClone({ contacts: see.contacts(), conversations: see.conversations(), messages: see.messages() })
}

/** The pairs, without their order in the list. */
export function findingsOf({ listed }: { listed: readonly RepairFinding[] }) {
  return listed.map(({ keep, drop, reason, outcome }) => `${keep} ← ${drop}: ${reason}, ${outcome}`).toSorted()
}

/** The network has stated that these phone numbers and anonymous ids belong together. */
export function stating(pairs: readonly (readonly [phone: string, lid: string | null])[], instance = 'n0') {
  return async (database: Database): Promise<void> => {
    const leases = new LeaseStore(database)
    const epoch = await leases.acquire('people', 60_000)
    assert.ok(epoch)
    const people = new PeopleStore(database)
    const names = { pushName: null, savedName: null, formerPhones: [] }
    // One after the other: on PostgreSQL the hold of a test ends with each write.
    for (const [phone, lid] of pairs) {
      await people.insert(holdOf(instance, epoch), { id: `p${phone}`, phone, lid, ...names })
    }
    await leases.release('people', epoch)
  }
}

export async function mergesIn({ service }: Served): Promise<{ target: string; metadata: object; actor: string }[]> {
  const { body } = await service.get('/api/audit?limit=500')
  const { entries } = body as { entries: { action: string; target: string; metadata: object; actor: string }[] }
  return entries.filter(({ action }) => action === 'contact.merge').toReversed()
}

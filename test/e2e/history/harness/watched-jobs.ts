// What tests of real imports look at: the jobs, and the messages of the past at the helpdesk.

import assert from 'node:assert/strict'
import type { SimHelpdesk } from '../../../../sim/helpdesk/sim-helpdesk.ts'
import type { SeenMessage } from '../../../../sim/helpdesk/snapshots.ts'
import type { FilledArchive } from '../../../../sim/network/past/fill-archive.ts'
import type { Answer } from '../../../harness/http-request.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import type { JobBody } from './import-world.ts'

type Watched = { service: { get(path: string): Promise<Answer> } }

/** Imports are on, and only the limit of each conversation slows them down. */
export const importing = { SERVICE_HISTORY_IMPORT_ENABLED: 'true', SERVICE_HISTORY_IMPORT_RATE_PER_SEC: '1000' }

/** Newest first. */
export async function jobsOf({ service }: Watched, instance?: string): Promise<JobBody[]> {
  const { status, body } = await service.get(`/api/jobs${instance === undefined ? '' : `?instance=${instance}`}`)
  return status === 200 ? (body as JobBody[]) : []
}

/** The newest job of the instance, as soon as it matches. */
export async function newestJob(
  world: Watched,
  what: string,
  matches: (job: JobBody) => boolean,
  { instance, timeoutMs = 300_000 }: { instance?: string; timeoutMs?: number } = {},
): Promise<JobBody> {
  let newest: JobBody | undefined
  const holds = async () => {
    newest = (await jobsOf(world, instance))[0]
    return newest !== undefined && matches(newest)
  }
  await waitUntil(`the newest job ${what}`, holds, { timeoutMs, instead: () => newest })
  assert.ok(newest)
  return newest
}

/** The newest job of the instance, as soon as it has completed. */
export async function completedJob(world: Watched, instance?: string): Promise<JobBody> {
  const found = await newestJob(world, 'has ended', ({ ended_at }) => ended_at !== null, {
    ...(instance && { instance }),
  })
  assert.equal(found.status, 'completed', JSON.stringify(found))
  return found
}

/** The messages at the helpdesk that were sent before the account was linked, oldest first. */
export function importedAt(helpdesk: SimHelpdesk): SeenMessage[] {
  return helpdesk.messages().filter(({ private: isNote, sourceId }) => !isNote && sourceId !== null)
}

/** How often each message of the archive is at the helpdesk, if not once. Reactions are messages of their own. */
export function wronglyImported(helpdesk: SimHelpdesk, { chats }: FilledArchive): string[] {
  const counts = new Map<string, number>()
  for (const { sourceId } of importedAt(helpdesk)) counts.set(sourceId ?? '', (counts.get(sourceId ?? '') ?? 0) + 1)
  const items = chats.flatMap((chat) => chat.items)
  return items.flatMap(({ id, kind }) => (counts.get(id) === 1 ? [] : `${kind} ${id}: ${counts.get(id) ?? 0} times`))
}

// What the helpdesk shows of names, and how names are counted.

import assert from 'node:assert/strict'
import type { Answer } from '../../../harness/http-request.ts'
import type { World } from '../../../harness/world.ts'
import { waitUntil } from '../../../harness/wait-until.ts'
import { DeskClient } from '../../../sim-helpdesk/harness/desk-client.ts'

export function namesAt({ helpdesk }: World): string[] {
  return helpdesk.see.contacts().map(({ name }) => name)
}

export async function named(world: World, name: string): Promise<void> {
  await waitUntil(`a contact is called ${name}`, () => namesAt(world).includes(name), { instead: () => namesAt(world) })
}

type Metered = { service: { get(path: string): Promise<Answer> } }

/** Each name that is dealt with counts once: waits for these results, and fails when there are others. */
export async function counted(world: Metered, results: Record<string, number>, instance = 'n0'): Promise<void> {
  let seen: Record<string, number> = {}
  const total = (counts: Record<string, number>) => Object.values(counts).reduce((sum, each) => sum + each, 0)
  const holds = async () => {
    const { text } = await world.service.get('/metrics')
    const lines = text.matchAll(/^service_realtime_events_total\{([^}]*feature="retroactive_name"[^}]*)\} (\d+)$/gm)
    seen = {}
    for (const [, labels = '', count] of lines) {
      if (labels.includes(`instance="${instance}"`)) seen[/result="(\w+)"/.exec(labels)?.[1] ?? ''] = Number(count)
    }
    return total(seen) >= total(results)
  }
  await waitUntil(`${total(results)} names are counted`, holds, { instead: () => seen })
  assert.deepEqual(seen, results)
}

/** The account has read the address book before: its next change is not the first sync. */
export async function knowAddressBook(world: World): Promise<void> {
  const other = world.network.person({ phone: '5511900009999', pushName: 'Other' })
  world.phone.saveContact(other, 'Another Person')
  await counted(world, { skip_fullsync: 1 })
}

/** An agent or a CRM changes the name of the contact. */
export async function renameByAgent({ helpdesk }: World, from: string, name: string): Promise<void> {
  const contact = helpdesk.see.contacts().find((each) => each.name === from)
  const { status } = await new DeskClient(helpdesk).patch(`/contacts/${contact?.id}`, { name })
  assert.equal(status, 200)
}

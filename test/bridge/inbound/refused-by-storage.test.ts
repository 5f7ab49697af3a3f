// PostgreSQL refuses some characters that a message may contain. Such a message delays no other message.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { BridgeBed, message, person } from './harness/bridge-bed.ts'

const minute = 60_000

async function parked(bed: BridgeBed): Promise<void> {
  const isParked = async () => {
    await bed.pass(minute)
    return bed.inbound.counts().parked === 1
  }
  await waitUntil('it is parked', isParked)
}

test(
  'a name that storage refuses stops neither the other chats nor the boot, and ends parked',
  { skip: withoutPostgres },
  async () => {
    await using bed = await BridgeBed.open({ engine: 'postgres' })
    await bed.receive(message('bad', { chat: person('5511900000'), pushName: 'Ma\0ria' }))
    for (let index = 1; index <= 5; index++)
      await bed.receive(message(`m${index}`, { chat: person(`551190000${index}`) }))
    await waitUntil('the other chats are posted', async () => {
      await bed.pass(500)
      return bed.helpdesk.messages.length >= 5
    })
    assert.equal(bed.inbound.counts().parked, 0, 'they do not wait until the bad one is parked')
    let isLoaded = false
    const restarted = bed.restart().then(() => {
      isLoaded = true
    })
    await waitUntil('the inbox is taken up', async () => {
      await bed.pass(500)
      return isLoaded
    })
    await restarted
    await parked(bed)
    assert.deepEqual(bed.helpdesk.contents.toSorted(), ['m1', 'm2', 'm3', 'm4', 'm5'])
  },
)

for (const [what, id] of [
  ['with a zero character', 'A\0B'],
  ['longer than an index takes', Array.from({ length: 4000 }, () => Math.random().toString(36).at(-1)).join('')],
] as const) {
  test(`an id ${what} does not stop its chat`, { skip: withoutPostgres }, async () => {
    await using bed = await BridgeBed.open({ engine: 'postgres' })
    await bed.receive(message('bad', { id }))
    await bed.receive(message('good'))
    await parked(bed)
    await bed.postedWithin(1, minute)
    assert.deepEqual(bed.helpdesk.contents, ['good'])
  })
}

// The history of a phone reaches the helpdesk: at the pairing, and when it is asked for.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'

const environment = { SERVICE_HISTORY_IMPORT_ENABLED: 'true', SERVICE_HISTORY_IMPORT_RATE_PER_SEC: '100' }
const owner = '5511999990000'

type JobBody = { type: string; status: string; error: string | null; result: Record<string, number> | null }

async function jobsOf(world: World): Promise<JobBody[]> {
  return (await world.service.get('/api/jobs')).body as JobBody[]
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`an import on ${engine}`, () => {
    test('brings what the phone sends at its pairing, and later what it is asked for, also into a locked helpdesk inbox', async () => {
      await using world = await World.unlinked({ engine, environment })
      const phone = world.network.account({ phone: owner })
      const bob = world.network.person({ phone: '5511988880001' })
      const now = Math.floor(Date.now() / 1000)
      for (const n of [3, 2, 1]) {
        phone.remember(bob, { text: `old ${n}`, from: bob.user, at: now - n * 3600 })
      }
      await world.pair('shop', owner, { history: { enabled: true, days: 7 } })
      await waitUntil(
        'the import of the pairing has ended',
        async () => (await jobsOf(world)).some(({ status }) => status === 'completed'),
        { instead: () => world.helpdesk.messages().map(({ content }) => content) },
      )
      const [job] = await jobsOf(world)
      assert.equal(job?.type, 'history_pairing')
      assert.equal(job.result?.['posted'], 3)
      const [conversation, ...others] = world.helpdesk.see.conversations()
      assert.deepEqual(others, [])
      assert.equal(conversation?.status, 'resolved')
      // Chatwoot returns the conversation of the chat for the same address of the contact from now on.
      await new DeskClient(world.helpdesk).patch('/inboxes/1', { lock_to_single_conversation: true })
      phone.remember(bob, { text: 'older', from: bob.user, at: now - 5 * 3600 })
      const { status, body } = await world.command('/shop/history/import?chat=5511988880001')
      assert.deepEqual([status, (body as Record<string, unknown>)['posted']], [200, 1])
      const shown = world.helpdesk.see.conversations().map(({ id }) =>
        world.helpdesk
          .messages(id)
          .filter(({ sourceId, private: isNote }) => sourceId !== null && !isNote)
          .map(({ content }) => content?.split('\n').at(-1)),
      )
      assert.deepEqual(shown, [['old 3', 'old 2', 'old 1'], ['older']])
    })
  })
}

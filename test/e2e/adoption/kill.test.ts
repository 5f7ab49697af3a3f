// kill -9 of the whole service during a take-over: the job goes on, and everything is taken over once.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { lifelike } from '../../../sim/helpdesk/settings.ts'
import { engines } from '../../harness/databases.ts'
import { fillMany } from '../../harness/other-bridges.ts'
import { ProcessWorld } from '../../harness/process-world.ts'
import { rounds } from '../../harness/rounds.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { completed } from '../contacts/harness/contact-jobs.ts'

const people = rounds({ gate: 12, long: 60 })
const killAt = [1, Math.floor(people / 2)]
const firstPhone = 5_511_970_000_000

async function start({ service }: ProcessWorld): Promise<string> {
  const body = { from: 'gowa', dry_run: false }
  const answer = await service.request('POST', '/api/instances/n0/adopt', { body })
  assert.equal(answer.status, 202, answer.text)
  return (answer.body as { job_id: string }).job_id
}

describe('a service killed during a take-over', { concurrency: true }, () => {
  for (const engine of engines) {
    test(`takes everything over once on ${engine}`, { timeout: 600_000 }, async () => {
      await using world = await ProcessWorld.open({ engine, helpdesk: { quirks: lifelike } })
      const { network, helpdesk } = world
      await world.allReady()
      const filled = fillMany(helpdesk, 'gowa', people, { firstPhone })
      const before = helpdesk.see.messages()
      const addresses = () => helpdesk.see.contacts().flatMap((each) => each.addresses.map(({ sourceId }) => sourceId))
      const ours = () => addresses().filter((address) => /^\d+$/.test(address))
      const id = await start(world)
      for (const count of killAt) {
        await waitUntil(`${count} contacts have our address`, () => ours().length >= count, { timeoutMs: 300_000 })
        await world.kill()
      }
      const { result } = await completed(world, id)
      const { adopted = 0, unchanged = 0, errors } = result ?? {}
      assert.deepEqual([adopted + unchanged, errors], [people, 0])
      assert.equal(new Set(ours()).size, people)
      assert.equal(ours().length, people)
      assert.deepEqual(helpdesk.see.messages(), before, 'nothing is posted')
      const seen = [helpdesk.see.contacts(), helpdesk.see.conversations()]
      const again = await completed(world, await start(world))
      const { adopted: more, unchanged: same, messages } = again.result ?? {}
      assert.deepEqual([more, same, messages], [0, people, 0])
      assert.deepEqual([helpdesk.see.contacts(), helpdesk.see.conversations()], seen)
      await world.allReady()
      const [first] = filled
      const customer = network.person({ phone: String(firstPhone), pushName: 'First' })
      const quoted = { stanzaId: `3EB0IN${firstPhone}`, participant: `${firstPhone}@s.whatsapp.net` }
      const context = { ...quoted, quotedMessage: { conversation: 'x' } }
      const { id: sourceId } = customer.text(world.phone, 'hello again', { context })
      const message = await helpdesk.waitForMessage(undefined, (each) => each.sourceId === sourceId, 60_000)
      assert.equal(message.conversationId, first?.conversations[0])
      assert.equal(message.contentAttributes['in_reply_to'], first?.messages.get(quoted.stanzaId))
      assert.equal(helpdesk.see.contacts().length, people)
    })
  }
})

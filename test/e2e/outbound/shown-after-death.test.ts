// A process that is killed or frozen before its answer reaches the helpdesk: the message arrives once, and the helpdesk shows it
// as sent in the end.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { calm } from '../../../sim/helpdesk/settings.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { engines } from '../../harness/databases.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const script = fileURLToPath(new URL('../../harness/stopping-process.ts', import.meta.url))
// Most of the time of each passes until the lease of the killed process is over.
const together = { concurrency: 3 }

/** The helpdesk calls this process, and its account is online. */
async function listen(world: AgentWorld, service: ServiceProcess): Promise<void> {
  const webhook_url = `${await service.ready()}/api/instances/n0/webhook`
  const { status, text } = await world.desk.patch('/inboxes/1', { channel: { webhook_url } })
  assert.equal(status, 200, text)
  await waitUntil('the account is online', () => service.reached('ready'))
}

const statusOf = async (world: AgentWorld, id: number) => (await world.shown(id, () => true)).status

for (const engine of engines) {
  describe(`killed before the answer, on ${engine}`, together, () => {
    for (const step of ['accepted', 'sent']) {
      test(`after "${step}": the message arrives once and is shown as sent`, async () => {
        await using world = await AgentWorld.open({ engine, helpdesk: { quirks: calm } })
        await world.stop()
        const id = await (async () => {
          await using dying = new ServiceProcess(world.environment, undefined, [script, step])
          await listen(world, dying)
          const written = await world.write('in the last moment')
          await dying.logged('standing still')
          dying.send('SIGKILL')
          await dying.exited()
          return written
        })()
        await world.shown(id, ({ status }) => status === 'failed')
        await using living = new ServiceProcess(world.environment)
        await listen(world, living)
        await world.shown(id, ({ status }) => status === 'sent')
        await world.received('in the last moment')
        await world.helpdesk.settled()
        assert.deepEqual([world.texts(), await statusOf(world, id)], [['in the last moment'], 'sent'])
      })
    }
  })

  describe(`frozen before the answer, on ${engine}`, together, () => {
    test('the messages that the process reads when it goes on arrive once and are shown as sent', async () => {
      await using world = await AgentWorld.open({ engine, helpdesk: { quirks: calm, webhookTimeoutMs: 1000 } })
      await world.stop()
      await using frozen = new ServiceProcess(world.environment)
      await listen(world, frozen)
      await world.write('before')
      await world.received('before')
      frozen.send('SIGSTOP')
      const texts = ['one', 'two', 'three']
      const ids: number[] = []
      for (const text of texts) ids.push(await world.write(text))
      for (const id of ids) await world.shown(id, ({ status }) => status === 'failed')
      frozen.send('SIGCONT')
      for (const id of ids) await world.shown(id, ({ status }) => status === 'sent')
      for (const text of texts) await world.received(text)
      await world.helpdesk.settled()
      assert.deepEqual(world.texts().sort(), ['before', ...texts].sort())
      for (const id of ids) assert.equal(await statusOf(world, id), 'sent')
    })
  })
}

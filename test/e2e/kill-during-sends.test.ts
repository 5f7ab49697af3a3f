// kill -9 between every two steps of a send: nothing is lost, nothing is doubled.

import { OutboundStage } from '../harness/outbound-stage.ts'
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { SendStep } from '../../src/bridge/deliver.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { networkEnvironment } from '../harness/service.ts'
import { ServiceProcess } from '../harness/service-process.ts'
import { silentLog } from '../harness/logs.ts'
import { waitUntil } from '../harness/wait-until.ts'

const script = fileURLToPath(new URL('../harness/stopping-process.ts', import.meta.url))

/** Two texts, of which the process dies during the first; what the customer has seen at the end. */
async function dieAt(step: SendStep, between: (url: string) => Promise<void> = () => Promise.resolve()) {
  await using stage = await OutboundStage.open()
  const url = stage.service.databasePath
  await stage.stop()
  const environment = { ...stage.environment, ...networkEnvironment(stage.network), DATABASE_URL: `file:${url}` }
  const post = async (base: string, id: number, text: string) => {
    const body = JSON.stringify(stage.callback(id, text))
    const signature = createHmac('sha256', stage.helpdesk.facts.webhook_secret).update(body).digest('hex')
    const headers = { 'content-type': 'application/json', 'x-service-signature': `sha256=${signature}` }
    return fetch(`${base}/api/instances/n0/webhook`, { method: 'POST', body, headers })
  }
  {
    await using dying = new ServiceProcess(environment, undefined, [script, step])
    const base = await dying.ready()
    await waitUntil('the account is online', () => dying.reached('ready'))
    post(base, 1, 'first').catch(() => undefined)
    await dying.logged('standing still')
    dying.send('SIGKILL')
    await dying.exited()
  }
  await between(url)
  await using living = new ServiceProcess(environment)
  const base = await living.ready()
  await stage.received('first', stage.bob, 30_000)
  const repeated = await post(base, 1, 'first')
  assert.ok(repeated.ok, await repeated.text())
  await waitUntil('the second is sent', async () => (await post(base, 2, 'second')).ok)
  await stage.received('second', stage.bob, 30_000)
  return stage.texts()
}

for (const step of ['accepted', 'composed', 'claimed', 'acknowledged', 'sent'] as const) {
  test(`killed after "${step}": the message arrives once`, async () => {
    assert.deepEqual(await dieAt(step), ['first', 'second'])
  })
}

test('without the id that was stored before the frame left, the message would arrive twice', async () => {
  const texts = await dieAt('acknowledged', async (path) => {
    await using database = await openDatabase({
      location: { engine: 'sqlite', path },
      encryptionKeys: [],
      log: silentLog,
    })
    await database.write(database.query.updateTable('outbox').set({ parts: '[]' }))
  })
  assert.deepEqual(texts, ['first', 'first', 'second'])
})

// kill -9 between every two steps of a send: nothing is lost, nothing is doubled.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { SendStep } from '../../../src/bridge/outbound/send/row-sender.ts'
import { openDatabase } from '../../../src/storage/database.ts'
import type { EngineName } from '../../../src/storage/database.ts'
import { shownTo } from '../../harness/agent-files.ts'
import { engines } from '../../harness/databases.ts'
import type { TestLocation } from '../../harness/databases.ts'
import { harshNetwork } from '../../harness/harsh-network.ts'
import type { Answer } from '../../harness/http-request.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { silentLog } from '../../harness/logs.ts'
import { signatureOf } from '../../harness/signed-callback.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const script = fileURLToPath(new URL('../../harness/stopping-process.ts', import.meta.url))

type Death = {
  step: SendStep
  /** Which time it comes to that step. */
  nth?: number
  engine?: EngineName
  /** Two files instead of a text. */
  files?: boolean
  /** What happens to the database while no process runs. */
  between?: (place: TestLocation) => Promise<void>
}

/** Two messages, of which the process dies during the first; what the customer has seen at the end. */
async function dieAt({ step, nth = 1, engine = 'sqlite', files = false, between }: Death): Promise<string[]> {
  await using world = await AgentWorld.open({ engine, network: harshNetwork })
  const attachments = files ? await upload(world, ['a.txt', 'b.txt']) : []
  await world.stop()
  const { environment } = world
  const first = world.callback(1, 'first', { attachments })
  {
    await using dying = new ServiceProcess(environment, undefined, [script, step, String(nth)])
    await dying.ready()
    await waitUntil('the account is online', () => dying.reached('ready'))
    post(world, dying, first).catch(() => undefined)
    await dying.logged('standing still')
    dying.send('SIGKILL')
    await dying.exited()
  }
  await between?.(world.place)
  await using living = new ServiceProcess(environment)
  await living.ready()
  const wanted = files ? 2 : 1
  await waitUntil('the first has arrived', () => world.bob.messages.length >= wanted, {
    instead: () => shownTo(world.bob),
  })
  const repeated = await post(world, living, first)
  assert.ok(repeated.status < 300, repeated.text)
  const second = world.callback(2, 'second')
  await waitUntil('the second is sent', async () => (await post(world, living, second)).status < 300)
  await world.received('second')
  return shownTo(world.bob)
}

function post({ helpdesk }: AgentWorld, service: ServiceProcess, callback: object): Promise<Answer> {
  const body = JSON.stringify(callback)
  const headers = signatureOf(body, helpdesk.facts.webhook_secret)
  return service.request('POST', '/api/instances/n0/webhook', { body, headers })
}

/** Attachments as the helpdesk names them; they come from a private note, which is sent to no one. */
async function upload(world: AgentWorld, names: readonly string[]): Promise<unknown> {
  const form = new FormData()
  form.set('private', 'true')
  for (const name of names) form.append('attachments[]', new Blob([name]), name)
  const { body, text } = await world.agent.send('POST', `/conversations/${world.conversation}/messages`, form)
  assert.ok(Array.isArray(body['attachments']), text)
  await world.helpdesk.settled()
  return body['attachments']
}

// Most of the time of each passes until the lease of the killed process is over.
const together = { concurrency: 3 }

for (const engine of engines) {
  describe(`a text, on ${engine}`, together, () => {
    for (const step of ['accepted', 'composed', 'claimed', 'acknowledged', 'sent'] as const) {
      test(`killed after "${step}": it arrives once`, async () => {
        assert.deepEqual(await dieAt({ step, engine }), ['first', 'second'])
      })
    }
  })
}

describe('two files', together, () => {
  const both = ['a.txt: first', 'b.txt', 'second']
  const deaths = [
    { step: 'part_saved' },
    { step: 'part_saved', engine: 'postgres' },
    { step: 'composed', nth: 2 },
    { step: 'claimed', nth: 2 },
    { step: 'acknowledged', nth: 2, engine: 'postgres' },
  ] as const
  for (const death of deaths) {
    test(`killed at ${Object.values(death).join(' ')}: both arrive once, in order`, async () => {
      assert.deepEqual(await dieAt({ ...death, files: true }), both)
    })
  }

  test('without the state of its parts, what was acknowledged would arrive twice', async () => {
    const twice = await dieAt({ step: 'part_saved', files: true, between: forgetParts })
    assert.deepEqual(twice, ['a.txt: first', ...both])
  })
})

test('without the id that was stored before the frame left, the message would arrive twice', async () => {
  assert.deepEqual(await dieAt({ step: 'acknowledged', between: forgetParts }), ['first', 'first', 'second'])
})

async function forgetParts({ location }: TestLocation): Promise<void> {
  await using database = await openDatabase({ location, encryptionKeys: [], log: silentLog })
  await database.write(database.query.updateTable('outbox').set({ parts: '[]' }))
}

// kill -9 between every two steps of a direct message: with the same key repeated, the customer gets it once, and the helpdesk
// shows it once.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { SendStep } from '../../../src/bridge/outbound/send/row-sender.ts'
import { openDatabase } from '../../../src/storage/database.ts'
import type { Database, EngineName } from '../../../src/storage/database.ts'
import type { Fault } from '../../../sim/helpdesk/faults/fault-plan.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { png, shownTo } from '../../harness/agent-files.ts'
import { engines } from '../../harness/databases.ts'
import { harshNetwork } from '../../harness/harsh-network.ts'
import type { Answer } from '../../harness/http-request.ts'
import { LoopbackServer } from '../../harness/loopback-server.ts'
import { silentLog } from '../../harness/logs.ts'
import { apiToken } from '../../harness/service.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { shownAs, toBob } from './harness/direct-calls.ts'
import type { DirectReply } from './harness/direct-calls.ts'

const script = fileURLToPath(new URL('../../harness/stopping-process.ts', import.meta.url))

const posts = { method: 'POST', path: /\/messages$/ }
const away: Fault = { kind: 'status', status: 503, ...posts }
/** The helpdesk creates the message and does not answer. */
const unanswered: Fault = { kind: 'timeout', commit: 'at_once', ...posts }

type Death = {
  step: SendStep
  engine?: EngineName
  content?: object
  /** What the helpdesk does to messages until the process is dead. */
  fault?: Fault
  /** What happens to the database while no process runs. */
  between?: (database: Database) => Promise<unknown>
}

type Aftermath = { customer: string[]; helpdesk: number; waid: string }

/** A process dies while it sends a message. The program repeats its request, and sends another message. */
async function dieAt(death: Death): Promise<Aftermath> {
  const { step, engine = 'sqlite', content = { text: 'first' }, fault, between } = death
  const environment = { SERVICE_EGRESS_ALLOW: '127.0.0.1' }
  await using world = await AgentWorld.open({ engine, network: harshNetwork, environment })
  await world.stop()
  const first = { to: toBob, ...content, idempotency_key: 'order 1' }
  {
    await using dying = new ServiceProcess(world.environment, undefined, [script, step])
    await dying.ready()
    await waitUntil('the account is online', () => dying.reached('ready'))
    if (fault) await world.helpdesk.fault(fault)
    ask(dying, first).catch(() => undefined)
    await dying.logged('standing still')
    if (fault === unanswered) {
      await world.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId !== null, 60_000)
    }
    dying.send('SIGKILL')
    await dying.exited()
    await world.helpdesk.clearFaults()
  }
  if (between) await changeStored(world, between)
  await using living = new ServiceProcess(world.environment)
  let waid = ''
  await waitUntil('the repeated request is answered as sent', async () => {
    const { status, body, text } = await ask(living, first)
    assert.ok(status === 200 || status === 202, text)
    waid = status === 200 ? (body as DirectReply).waid : ''
    return waid !== ''
  })
  const second = await ask(living, { to: toBob, text: 'second', idempotency_key: 'order 2' })
  assert.ok(second.status < 300, second.text)
  await world.received('second')
  await world.helpdesk.waitForMessage(undefined, ({ content: text }) => text === 'second', 60_000)
  await world.helpdesk.settled()
  return { customer: shownTo(world.bob), helpdesk: shownAs(world, waid).length, waid }
}

function ask(service: ServiceProcess, body: object): Promise<Answer> {
  return service.request('POST', '/api/instances/n0/messages', { body, token: apiToken })
}

async function changeStored({ place: { location } }: AgentWorld, change: NonNullable<Death['between']>): Promise<void> {
  await using database = await openDatabase({ location, encryptionKeys: [], log: silentLog })
  await change(database)
}

// Most of the time of each passes until the lease of the killed process is over.
const together = { concurrency: 3 }
const once = { customer: ['first', 'second'], helpdesk: 1 }

for (const engine of engines) {
  describe(`a text, on ${engine}`, together, () => {
    for (const step of ['accepted', 'composed', 'claimed', 'acknowledged', 'sent'] as const) {
      test(`killed after "${step}": the customer and the helpdesk get it once`, async () => {
        const { customer, helpdesk } = await dieAt({ step, engine })
        assert.deepEqual({ customer, helpdesk }, once)
      })
    }
  })
}

describe('what protects a direct message', together, () => {
  test('a file of which the helpdesk knows nothing when the process dies is posted by the next one', async () => {
    await using files = await LoopbackServer.start((_, response) => response.end(png))
    const content = { media_url: files.url('127.0.0.1', '/photo.png') }
    const { customer, helpdesk } = await dieAt({ step: 'sent', content, fault: away })
    assert.deepEqual({ customer, helpdesk }, { customer: ['imageMessage', 'second'], helpdesk: 1 })
  })

  test('a message that was posted when the process died is not posted again', async () => {
    const { customer, helpdesk } = await dieAt({ step: 'sent', fault: unanswered })
    assert.deepEqual({ customer, helpdesk }, once)
  })

  test('without the stored key the repeated request would send the message twice', async () => {
    const forgetKeys = (database: Database) => database.write(database.query.deleteFrom('request_keys'))
    const { customer } = await dieAt({ step: 'sent', between: forgetKeys })
    assert.deepEqual(customer, ['first', 'first', 'second'])
  })

  test('without the inbox row of the acknowledgement the helpdesk would never show the message', async () => {
    const forgetInbox = (database: Database) => database.write(database.query.deleteFrom('inbox'))
    const { customer, helpdesk } = await dieAt({ step: 'sent', fault: away, between: forgetInbox })
    assert.deepEqual({ customer, helpdesk }, { customer: ['first', 'second'], helpdesk: 0 })
  })
})

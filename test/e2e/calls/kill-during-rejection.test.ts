// kill -9 around the rejection of a call: the caller gets the text once, and the notice says only what is known.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import type { SendStep } from '../../../src/bridge/outbound/send/row-sender.ts'
import type { Database, EngineName } from '../../../src/storage/database.ts'
import { engines } from '../../harness/databases.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { openTestConnection } from '../../harness/test-connection.ts'
import { ServiceProcess } from '../../harness/service-process.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

const script = fileURLToPath(new URL('../../harness/stopping-process.ts', import.meta.url))
const text = 'We take no calls. Please write to us.'
const environment = { SERVICE_REJECT_CALLS: 'true', SERVICE_REJECT_CALLS_TEXT: text }
const steps: readonly SendStep[] = ['accepted', 'composed', 'claimed', 'acknowledged', 'sent']

const textsTo = (person: SimPerson) => person.messages.entries.map(({ message }) => textOfMessage(message))

const newcomer = ({ network }: World) =>
  network.person({ phone: '5511988887777', lid: '300000000000001', pushName: 'Maria' })

/** What is stored of a call when a process dies: claimed, or rejected with its text still due. */
async function leaveBehind(database: Database, callId: string, rejectedAt: number | null): Promise<void> {
  const text_state = rejectedAt === null ? null : ('due' as const)
  const row = { instance: 'n0', call_id: callId, phone: '5511988887777', lid: '300000000000001', text_state }
  await database.write(
    database.query.insertInto('rejected_calls').values({ ...row, claimed_at: Date.now(), rejected_at: rejectedAt }),
  )
}

/** The process dies at a step of sending the text. Returns what the caller has at the end. */
async function dieAt(step: SendStep, engine: EngineName): Promise<string[]> {
  await using world = await World.open({ engine, environment })
  const maria = newcomer(world)
  await world.stop()
  {
    await using dying = new ServiceProcess(world.environment, undefined, [script, step])
    await dying.ready()
    await waitUntil('the account is online', () => dying.reached('ready'))
    const call = maria.call(world.phone)
    await dying.logged('standing still')
    assert.ok(call.isRejected)
    dying.send('SIGKILL')
    await dying.exited()
  }
  await world.restart()
  await waitUntil('the text has arrived', () => textsTo(maria).length > 0)
  const [received] = maria.messages.entries
  assert.ok(received)
  await world.arrived({ id: received.id })
  await waitUntil('no text is due', async () => {
    const { database } = world.service
    const rows = await database.read(database.query.selectFrom('rejected_calls').select('text_state'))
    return rows.every(({ text_state: state }) => state === 'given')
  })
  await world.arrived(maria.text(world.phone, 'I write instead'))
  assert.equal(world.helpdesk.messages().filter(({ content }) => content === text).length, 1)
  return textsTo(maria).map(String)
}

for (const engine of engines) {
  describe(`on ${engine}`, () => {
    test('a text that was due when the process died is sent once, and not again by the next process', async () => {
      await using world = await World.open({ engine, environment })
      const maria = newcomer(world)
      await leaveBehind(world.service.database, 'CALL1', Date.now())
      await world.restart()
      await waitUntil('the text has arrived', () => textsTo(maria).length > 0)
      await world.restart()
      await world.service.app.workers.get('call-texts')?.tick()
      assert.deepEqual(textsTo(maria), [text])
    })

    test('a text that was due for more than an hour is not sent any more', async () => {
      await using world = await World.open({ engine, environment })
      const maria = newcomer(world)
      await leaveBehind(world.service.database, 'CALL1', Date.now() - 3_700_000)
      await world.service.app.workers.get('call-texts')?.tick()
      const told = world.service.logs.withMessage('the caller of a rejected call gets no text')
      assert.deepEqual([told.length, textsTo(maria)], [1, []])
    })

    test('a call that was claimed when the process died is not called rejected, and has no text', async () => {
      await using world = await World.open({ engine, environment })
      const maria = newcomer(world)
      await world.stop()
      const call = maria.call(world.phone)
      {
        await using database = await openTestConnection(world.place.location)
        await leaveBehind(database, call.id, null)
      }
      await world.restart()
      const expected = '📞 Voice call. It may not have been rejected: WhatsApp did not confirm it.'
      assert.equal((await world.arrived(call)).content, expected)
      await world.service.app.workers.get('call-texts')?.tick()
      assert.deepEqual(textsTo(maria), [])
    })
  })
}

for (const engine of drawnEngines(import.meta.url)) {
  for (const step of steps) {
    test(`a process that dies at the step "${step}" of the text sends it once on ${engine}`, async () => {
      assert.deepEqual(await dieAt(step, engine), [text])
    })
  }
}

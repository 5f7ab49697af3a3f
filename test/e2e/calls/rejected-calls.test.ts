// Calls of customers are rejected where the instance is set to do so, the conversation says it, and the caller gets a text.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import type { SimCall } from '../../../sim/network/people/sim-call.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { engines } from '../../harness/databases.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import type { WorldOptions } from '../../harness/world.ts'

const text = 'We take no calls. Please write to us.'
const rejecting = { SERVICE_REJECT_CALLS: 'true' }
const answering = { ...rejecting, SERVICE_REJECT_CALLS_TEXT: text }
const minute = 60_000

type Opened = AsyncDisposable & { world: World; maria: SimPerson }

async function open(environment: Record<string, string>, options: WorldOptions = {}): Promise<Opened> {
  const world = await World.open({ ...options, environment })
  const maria = world.network.person({ phone: '5511988887777', lid: '300000000000001', pushName: 'Maria' })
  return { world, maria, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

const textsTo = (person: SimPerson) => person.messages.entries.map(({ message }) => textOfMessage(message))

/** The messages at the helpdesk, in order. */
const shown = ({ helpdesk }: World) =>
  helpdesk.messages().map(({ content, messageType }) => `${messageType}: ${content ?? ''}`)

/** A text that the person writes after everything else, so that what comes later would be noticed. */
async function writeLast({ world, maria }: Opened): Promise<void> {
  await world.arrived(maria.text(world.phone, 'I write instead'))
  await world.drained()
}

/** How many attempts to reject a call ended in this way. */
async function counted({ world }: Opened, outcome: string): Promise<string | undefined> {
  const { text } = await world.service.get('/metrics')
  const series = `service_call_rejections_total{instance="n0",outcome="${outcome}"} `
  return text
    .split('\n')
    .find((line) => line.startsWith(series))
    ?.slice(series.length)
}

/** The call rang, and the conversation shows it. */
async function notice({ world }: Opened, call: SimCall): Promise<string> {
  return (await world.arrived(call)).content ?? ''
}

for (const engine of engines) {
  describe(`with rejection on, on ${engine}`, () => {
    test('the caller sees the rejection, the conversation shows the call and the text, each once', async () => {
      await using opened = await open(answering, { engine })
      const { world, maria } = opened
      const call = maria.call(world.phone)
      await call.rejected()
      call.end()
      const { id } = await maria.messages.waitFor('the text', ({ message }) => textOfMessage(message) === text)
      const written = await world.arrived({ id })
      assert.deepEqual([written.content, written.messageType], [text, 'outgoing'])
      await writeLast(opened)
      assert.deepEqual(shown(world).sort(), [
        'incoming: I write instead',
        'incoming: 📞 Voice call, rejected automatically',
        `outgoing: ${text}`,
      ])
      assert.equal(world.helpdesk.see.conversations().length, 1)
      assert.deepEqual(textsTo(maria), [text])
      assert.equal(await counted(opened, 'rejected'), '1')
    })

    test('a second call within the hour is rejected without a text, also after a restart; after the hour it has one', async () => {
      const clock = new ManualClock(Date.now())
      await using opened = await open(answering, { engine, clock })
      const { world, maria } = opened
      const ring = async () => {
        const call = maria.call(world.phone)
        await call.rejected()
        assert.match(await notice(opened, call), /rejected automatically/)
      }
      await ring()
      await waitUntil('the first text is there', () => textsTo(maria).length === 1)
      // The acknowledgement must not wait when the clock leaps.
      await waitUntil('the first text is stored as sent', async () => {
        const { body } = await world.service.get('/api/instances/n0/outbox')
        return (body as { sent: number }).sent === 1
      })
      await clock.advance(30 * minute)
      await ring()
      await world.restart()
      await clock.advance(29 * minute)
      await ring()
      await writeLast(opened)
      assert.deepEqual(textsTo(maria), [text])
      await clock.advance(2 * minute)
      await ring()
      await waitUntil('the second text is there', () => textsTo(maria).length === 2)
    })
  })
}

test('without a text the call is rejected and nothing is sent', async () => {
  await using opened = await open(rejecting)
  const { world, maria } = opened
  const call = maria.call(world.phone, { video: true })
  await call.rejected()
  assert.equal(await notice(opened, call), '📹 Video call, rejected automatically')
  call.end(true)
  await writeLast(opened)
  assert.deepEqual(shown(world), ['incoming: 📹 Video call, rejected automatically', 'incoming: I write instead'])
  assert.deepEqual(textsTo(maria), [])
})

test('by default a call is left alone, and may be missed', async () => {
  await using opened = await open({ SERVICE_REJECT_CALLS_TEXT: text })
  const { world, maria } = opened
  const call = maria.call(world.phone)
  assert.equal(await notice(opened, call), '📞 Voice call')
  call.end()
  await writeLast(opened)
  assert.deepEqual(shown(world), [
    'incoming: 📞 Voice call',
    'incoming: 📞 Missed voice call',
    'incoming: I write instead',
  ])
  assert.deepEqual([call.isRejected, textsTo(maria)], [false, []])
})

test('each person gets a text, and two calls at once give one', async () => {
  await using opened = await open(answering)
  const { world, maria } = opened
  const rui = world.network.person({ phone: '5511988886666', lid: '300000000000002', pushName: 'Rui' })
  const calls = [maria.call(world.phone), rui.call(world.phone), maria.call(world.phone, { video: true })]
  for (const call of calls) await call.rejected()
  for (const call of calls) assert.match(await notice(opened, call), /rejected automatically/)
  await waitUntil('both have a text', () => textsTo(maria).length > 0 && textsTo(rui).length > 0)
  await writeLast(opened)
  assert.deepEqual([textsTo(maria), textsTo(rui)], [[text], [text]])
})

test('the setting of an instance counts for its own calls', async () => {
  await using opened = await open(answering, { accounts: 2 })
  const { world, maria } = opened
  const [first, second] = world.phones
  assert.ok(first && second)
  assert.equal((await world.patch('n0', { reject_calls: false })).status, 200)
  const [left, rejected] = [maria.call(first), maria.call(second)]
  await rejected.rejected()
  assert.equal(await notice(opened, left), '📞 Voice call')
  await world.drained()
  assert.equal(left.isRejected, false)
})

test('a call in a group is not rejected, and its caller gets no text', async () => {
  await using opened = await open(answering)
  const { world, maria } = opened
  const group = world.network.group('Team', maria, [world.phone])
  const call = maria.call(world.phone, { groupJid: group.jid })
  assert.match(await notice(opened, call), /📞 Voice call$/)
  await writeLast(opened)
  assert.deepEqual([call.isRejected, textsTo(maria)], [false, []])
})

test('a call of an ignored chat is not rejected', async () => {
  await using opened = await open({ ...answering, SERVICE_IGNORE_JIDS: '5511988887777@*' })
  const { world, maria } = opened
  const call = maria.call(world.phone)
  maria.text(world.phone, 'hello')
  const rui = world.network.person({ phone: '5511988886666' })
  await world.arrived(rui.text(world.phone, 'after it'))
  await world.drained()
  assert.deepEqual([call.isRejected, textsTo(maria)], [false, []])
})

test('calls that came while the service was away are not rejected, whether they ended or not', async () => {
  await using opened = await open(answering)
  const { world, maria } = opened
  await world.stop()
  const calls = [maria.call(world.phone), maria.call(world.phone)]
  calls[0]?.end()
  await world.restart()
  await writeLast(opened)
  assert.deepEqual(shown(world).sort(), [
    'incoming: I write instead',
    'incoming: 📞 Missed voice call',
    'incoming: 📞 Voice call',
    'incoming: 📞 Voice call',
  ])
  assert.deepEqual(
    calls.map(({ isRejected }) => isRejected),
    [false, false],
  )
  assert.deepEqual(textsTo(maria), [])
})

test('a caller who hangs up at once, and a call that the owner takes, get no rejection and no text', async () => {
  for (const finish of [
    (call: SimCall) => {
      call.end()
    },
    (call: SimCall) => {
      call.takeElsewhere()
    },
  ]) {
    await using opened = await open(answering)
    const { world, maria } = opened
    const call = maria.call(world.phone)
    finish(call)
    assert.equal(await notice(opened, call), '📞 Voice call')
    await writeLast(opened)
    assert.deepEqual([call.isRejected, textsTo(maria)], [false, []])
    assert.equal(await counted(opened, 'over'), '1')
  }
})

test('a rejection that WhatsApp refuses, or does not confirm, is told; the call stays a missed one, without a text', async () => {
  for (const fault of [{ kind: 'call_error', code: 400 } as const, { kind: 'drop_on', tag: 'call' } as const]) {
    await using opened = await open(answering)
    const { world, maria } = opened
    world.network.fault(fault)
    const call = maria.call(world.phone)
    assert.equal(
      await notice(opened, call),
      '📞 Voice call. It may not have been rejected: WhatsApp did not confirm it.',
    )
    call.end(true)
    await writeLast(opened)
    assert.ok(shown(world).includes('incoming: 📞 Missed voice call'))
    assert.equal(await counted(opened, 'unconfirmed'), '1')
    assert.deepEqual(textsTo(maria), [])
  }
})

for (const [locale, expected] of [
  ['es', '📞 Llamada de voz, rechazada automáticamente'],
  ['pt', '📞 Chamada de voz, recusada automaticamente'],
] as const) {
  test(`the notice is written in ${locale}`, async () => {
    await using opened = await open({ ...rejecting, SERVICE_LOCALE: locale })
    assert.equal(await notice(opened, opened.maria.call(opened.world.phone)), expected)
  })
}

// The messages that Chatwoot writes itself, as recorded: greeting, out of office, survey and automation rules.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallbackStage } from './harness/callback-stage.ts'
import type { Json } from './harness/desk-client.ts'
import type { Fields } from './harness/recordings.ts'
import { assertSame, recordedShort, short, sorted } from './harness/short-callbacks.ts'

async function open(settings: object): Promise<CallbackStage> {
  const stage = await CallbackStage.open()
  await stage.admin.patch('/inboxes/1', settings)
  return stage
}
const greeting = { greeting_enabled: true, greeting_message: 'Welcome {{contact.name}}!' }
const closed = { working_hours_enabled: true, out_of_office_message: 'We are closed', timezone: timezoneAtNight() }

test('a greeting follows the first message, also in a pending conversation', async () => {
  await using stage = await open(greeting)
  const chat = await stage.openChat('5521992703888', 'Maria 39e97ac0b7')
  const first = await stage.say(chat, 'hi')
  assertSame(first, 'greeting: first incoming in an open conversation')
  stage.assertRecorded(['callbacks', 'message_created of a greeting, in full'], first)
  assertSame(await stage.say(chat, 'hi 2'), 'greeting: second incoming')
  const pending = await stage.openChat('5521992703889', 'Maria ab99c41613', { status: 'pending' })
  assertSame(await stage.say(pending, 'hi'), 'greeting: first incoming in a PENDING conversation')
})

test('a greeting does not follow what was written before', async () => {
  await using stage = await open(greeting)
  const chat = await stage.openChat('5521992703890', 'Maria db39ce0b73')
  const outgoing = await stage.callbacksOf(() => stage.write(stage.admin, chat, { content: 'outgoing first' }))
  assertSame(outgoing, 'greeting: outgoing posted first', { 'Ada Admin': 'Causeway' })
  assertSame(await stage.say(chat, 'then incoming'), 'greeting: then incoming')
  const other = await stage.openChat('5521992703891', 'Maria 483492ed4d')
  await stage.write(stage.admin, other, { content: 'template', message_type: 'template' })
  assertSame(await stage.say(other, 'incoming'), 'greeting: template posted by the bridge first, then incoming')
  const third = await stage.openChat('5521992703892', 'Maria c6362a8441')
  await stage.write(stage.agent, third, { content: 'note', private: true })
  await stage.write(stage.admin, third, { content: 'activity', message_type: 'activity' })
  assertSame(await stage.say(third, 'incoming'), 'greeting: private note + activity first, then incoming')
})

test('out of office: once a day, also in a pending conversation, not right after an answer', async () => {
  await using stage = await open(closed)
  const chat = await stage.openChat('5521992703893', 'Maria 6d23f5a9b3')
  const first = await stage.say(chat, 'hi')
  assertSame(first, 'out of office: incoming')
  stage.assertRecorded(['callbacks', 'message_created of the out-of-office message'], first)
  assertSame(await stage.say(chat, 'hi2'), 'out of office: second incoming')
  const pending = await stage.openChat('5521992703894', 'Maria aa814b7b51', { status: 'pending' })
  assertSame(await stage.say(pending, 'hi'), 'out of office: incoming in a PENDING conversation')
  const answered = await stage.openChat('5521992703895', 'Maria 514839e180')
  await stage.write(stage.agent, answered, { content: 'we called you' })
  assertSame(await stage.say(answered, 'hi'), 'out of office: outgoing less than 5 min before')
})

test('a survey follows every resolve', async () => {
  await using stage = await open({ csat_survey_enabled: true })
  const chat = await stage.openChat('5521992703888', 'Maria 39e97ac0b7')
  const resolve = (id: number) =>
    stage.callbacksOf(() => stage.agent.post(`/conversations/${id}/toggle_status`, { status: 'resolved' }))
  const link = (id: number) => {
    const url = `${stage.desk.url}/survey/responses/`
    const body = stage.bridge.events('message_created').find(({ body: { conversation } }) => {
      return (conversation as Json).id === id
    })
    const [uuid = ''] = String(body?.body['content']).split(url).slice(1)
    return { 'https://chatwoot.example/survey/responses/<uuid>': url + uuid }
  }
  await stage.say(chat, 'hi')
  await stage.write(stage.agent, chat, { content: 'hello' })
  const full = await resolve(chat)
  assertSame(full, 'CSAT on: conversation resolved', link(chat))
  stage.assertRecorded(['callbacks', 'message_created of a CSAT survey, in full'], full, ['content'])
  const empty = await stage.openChat('5521992703896', 'Maria')
  assertSame(await resolve(empty), 'CSAT on: conversation without messages resolved', link(empty))
  const incoming = await stage.openChat('5521992703897', 'Maria')
  await stage.say(incoming, 'hi')
  assertSame(await resolve(incoming), 'CSAT on: only incoming, resolved', link(incoming))
  const imported = await stage.openChat('5521992703898', 'Maria', { status: 'pending' })
  await stage.say(imported, 'h0')
  await stage.write(stage.admin, imported, { content: 'h1' })
  const what = 'CSAT on: pending conversation with in+out (history import), toggled to resolved'
  assertSame(await resolve(imported), what, link(imported))
})

test('an automation rule answers without a sender, also in a pending conversation', async () => {
  await using stage = await open({})
  const chat = await stage.openChat('5521992703899', 'Maria 650bfb8193')
  stage.desk.world.addAutomation('Automated {{contact.name}}')
  const callbacks = await stage.say(chat, 'trigger')
  // The recorded rule also sets a label, which the simulator's rules do not.
  const ofRule = (list: unknown[]) => sorted(list.filter((each) => (each as Fields)['event'] === 'message_created'))
  assert.deepEqual(ofRule(callbacks.map(short)), ofRule(recordedShort('automation rule send_message on incoming')))
  stage.assertRecorded(['callbacks', 'message_created by an automation rule, in full'], callbacks)
  const pending = await stage.openChat('5521992703900', 'Maria 684449c510', { status: 'pending' })
  const what = 'automation rule: incoming in a PENDING conversation'
  assert.deepEqual(ofRule((await stage.say(pending, 'trigger')).map(short)), ofRule(recordedShort(what)))
})

/** A zone in which it is night now, because the working hours of the simulator cannot be changed. */
function timezoneAtNight(): string {
  const hour = new Date().getUTCHours()
  return hour >= 9 && hour < 17 ? 'Etc/GMT+12' : 'UTC'
}

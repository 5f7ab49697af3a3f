// Callbacks come as Sidekiq delivers them: from several workers, late, swapped, and as a backlog.

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { SeededChoices } from '../../sim/helpdesk/seeded-choices.ts'
import { busy, calm, lifelike, stockSettings } from '../../sim/helpdesk/settings.ts'
import type { Quirks } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { postDelay } from '../../sim/helpdesk/webhooks/delivery-delays.ts'
import { DeskClient, openChat } from './harness/desk-client.ts'
import type { Json } from './harness/desk-client.ts'
import { WebhookCatcher } from './harness/webhook-catcher.ts'

let bridge: WebhookCatcher

before(async () => {
  bridge = await WebhookCatcher.start()
})
beforeEach(() => {
  bridge.reply = (_, response) => response.end()
})
after(() => bridge[Symbol.asyncDispose]())

async function start(quirks: Quirks, seed = 'delivery') {
  const desk = await SimHelpdesk.start({ quirks, seed })
  const client = new DeskClient(desk)
  await client.patch('/inboxes/1', { channel: { webhook_url: bridge.url } })
  const chat = await openChat(client, '5511')
  await desk.settled()
  bridge.caught.clear()
  return { desk, client, chat, [Symbol.asyncDispose]: () => desk[Symbol.asyncDispose]() }
}

async function write(client: DeskClient, chat: number, count: number): Promise<number[]> {
  const ids: number[] = []
  for (let at = 0; at < count; at++) {
    ids.push((await client.post(`/conversations/${chat}/messages`, { content: String(at) })).body.id)
  }
  return ids
}

const idsOf = (event: string) => bridge.events(event).map(({ body }) => Number(body['id']))

/** How many callbacks came after a later one. */
function swapped(ids: readonly number[]): number {
  return ids.filter((id, at) => ids.slice(0, at).some((earlier) => earlier > id)).length
}

test('a stock helpdesk is lifelike and has ten workers', () => {
  assert.deepEqual([stockSettings.quirks, stockSettings.jobThreads], [lifelike, 10])
})

test('how late each callback is depends on the seed alone; calm workers are never late', () => {
  const settings = { ...stockSettings, quirks: busy }
  const delays = (seed: string) =>
    Array.from({ length: 100 }, (_, at) => postDelay({ choices: new SeededChoices(seed), settings }, at))
  assert.deepEqual(delays('one'), delays('one'))
  assert.notDeepEqual(delays('one'), delays('two'))
  const stalled = delays('one').filter((ms) => ms > busy.workerMs[1]).length
  assert.ok(stalled >= 10 && stalled <= 30, `${stalled} of 100 stall`)
  assert.equal(postDelay({ choices: new SeededChoices('one'), settings: { ...settings, quirks: calm } }, 1), 0)
})

test('a busy helpdesk swaps the callbacks of a sequence; each comes once', async () => {
  await using stage = await start(busy)
  const ids = await write(stage.client, stage.chat, 30)
  await stage.desk.settled()
  assert.ok(swapped(idsOf('message_created')) >= 5, String(idsOf('message_created')))
  assert.deepEqual(
    [...new Set(idsOf('message_created'))].toSorted((a, b) => a - b),
    ids,
  )
})

test('while the workers are away nothing comes; then ten of them work off the backlog in another order', async () => {
  await using stage = await start({ ...calm, workerMs: [5, 60] })
  let running = 0
  let most = 0
  bridge.reply = (_, response) => {
    most = Math.max(most, ++running)
    setTimeout(() => {
      running--
      response.end()
    }, 30)
  }
  stage.desk.workersAway(600_000)
  const ids = await write(stage.client, stage.chat, 20)
  assert.deepEqual(bridge.caught.entries, [])
  await stage.desk.advance(600_000)
  await stage.desk.settled()
  const order = idsOf('message_created')
  assert.notDeepEqual(order, ids)
  assert.deepEqual(
    order.toSorted((a, b) => a - b),
    ids,
  )
  assert.ok(most > 1 && most <= 10, `${most} workers at once`)
})

test('a body shows the moment at which the dispatcher runs', async () => {
  await using stage = await start(calm)
  stage.desk.workersAway(600_000)
  await write(stage.client, stage.chat, 1)
  await stage.client.post(`/conversations/${stage.chat}/toggle_status`, { status: 'resolved' })
  await stage.desk.advance(600_000)
  const { body } = await bridge.waitFor('message_created')
  assert.equal((body['conversation'] as Json)['status'], 'resolved')
})

test('the update of an audio file comes before its message_created, one update per file', async () => {
  await using stage = await start({ ...calm, audioFirst: 1 })
  const form = new FormData()
  for (const name of ['a.mp3', 'b.mp3']) form.append('attachments[]', new Blob(['x'], { type: 'audio/mpeg' }), name)
  await stage.client.send('POST', `/conversations/${stage.chat}/messages`, form)
  await stage.desk.settled()
  assert.deepEqual(
    bridge.caught.entries.map(({ event }) => event).filter((event) => event.startsWith('message')),
    ['message_updated', 'message_updated', 'message_created'],
  )
})

test('attachments are listed in any order; their ids keep the order of the upload', async () => {
  await using stage = await start({ ...calm, shuffledFiles: 1 })
  const names = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt']
  const form = new FormData()
  for (const name of names) form.append('attachments[]', new Blob([name]), name)
  await stage.client.send('POST', `/conversations/${stage.chat}/messages`, form)
  const { body } = await bridge.waitFor('message_created')
  const listed = (body['attachments'] as Json[]).map(({ id, data_url: url }) => ({ id, name: String(url).slice(-5) }))
  const nameOf = ({ name }: { name: string }) => name
  assert.notDeepEqual(listed.map(nameOf), names)
  assert.deepEqual(listed.toSorted((a, b) => a.id - b.id).map(nameOf), names)
  assert.deepEqual(
    stage.desk.messages(stage.chat)[0]?.files.map(({ filename }) => filename),
    names,
  )
})

test('the reply of an automation rule comes before the message that caused it', async () => {
  await using stage = await start({ ...calm, automationFirst: 1 })
  stage.desk.world.addAutomation('Automated {{contact.name}}')
  await stage.client.post(`/conversations/${stage.chat}/messages`, { content: 'hi', message_type: 'incoming' })
  await stage.desk.settled()
  assert.deepEqual(
    bridge
      .events('message_created')
      .map(({ body }) => [body['message_type'], body['content'], body['sender'] === null]),
    [
      ['outgoing', 'Automated Maria', true],
      ['incoming', 'hi', false],
    ],
  )
})

test('a message is marked as failed a moment after the bad answer, with the status line as its reason', async () => {
  await using stage = await start({ ...calm, failureMs: [60_000, 60_000] })
  bridge.reply = ({ event }, response) => response.writeHead(event === 'message_created' ? 500 : 200).end()
  await write(stage.client, stage.chat, 1)
  const delivered = ({ event }: { event: string }) => event === 'message_created'
  await stage.desk.waitForDelivery('the bad answer', delivered)
  assert.equal(stage.desk.messages(stage.chat)[0]?.status, 'sent')
  await stage.desk.advance(61_000)
  const [message] = stage.desk.messages(stage.chat)
  assert.deepEqual(
    [message?.status, message?.contentAttributes],
    ['failed', { external_error: '500 Internal Server Error' }],
  )
  const { body } = await bridge.waitFor('message_updated')
  assert.deepEqual(body['content_attributes'], { external_error: '500 Internal Server Error' })
})

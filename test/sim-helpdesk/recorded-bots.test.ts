// The simulator calls the bot of a helpdesk inbox as a real Chatwoot 4.14.1 did.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { waitUntil } from '../harness/wait-until.ts'
import { CallbackStage } from './harness/callback-stage.ts'
import { DeskClient } from './harness/desk-client.ts'
import { readRecordings, recordingOf } from './harness/recordings.ts'
import type { Fields } from './harness/recordings.ts'
import { short, sorted } from './harness/short-callbacks.ts'

/** The events of a conversation that only bots get. */
const onlyBots = new Set(['conversation_opened', 'conversation_resolved'])

function connectBot(stage: CallbackStage) {
  return stage.desk.world.connectBot('contract-bot3', stage.bridge.url.replace('/hook', '/bot'))
}

/** The callbacks of the bridge and of the bot that the work causes. */
async function callbacksOf(stage: CallbackStage, work: () => Promise<unknown>): Promise<string[]> {
  await stage.callbacksOf(work)
  return sorted(stage.bridge.caught.entries.map(({ path, body }) => named(path, body)))
}

function recorded(file: 'callbacks' | 'history', what: string): string[] {
  const list = readRecordings(file).find((each) => each.what === what)?.callbacks ?? []
  const kept = list.filter(({ event }) => !onlyBots.has(String(event)))
  return sorted(
    kept.map((each) => {
      const changed = each['changed_attributes'] as string[] | undefined
      const changes = changed && { changed_attributes: changed.map((name) => ({ [name]: null })) }
      return named('path' in each ? '/bot' : '/hook', { ...each, ...changes })
    }),
  )
}

function named(path: string, body: Fields): Fields {
  const { event, message_type, content, status, changed } = short(body) as Fields
  const isMessage = String(event).startsWith('message')
  return isMessage ? { path, event, message_type, content } : { path, event, status, changed }
}

test('a bot is called for messages and changes, and the bridge too', async () => {
  await using stage = await CallbackStage.open()
  const bot = connectBot(stage)
  let chat = 0
  const created = await callbacksOf(stage, async () => {
    chat = await stage.openChat('5521992703913', 'Maria 9edfacdfc8')
  })
  assert.deepEqual(created, recorded('callbacks', 'agent bot connected: conversation created (status pending)'))
  const said = await callbacksOf(stage, () =>
    stage.write(stage.admin, chat, { content: 'to bot', message_type: 'incoming' }),
  )
  assert.deepEqual(said, recorded('callbacks', 'agent bot connected: incoming'))
  const call = stage.bridge.caught.entries.find(({ path }) => path === '/bot')
  const { 'x-chatwoot-timestamp': at, 'x-chatwoot-signature': signature } = call?.headers ?? {}
  const expected = createHmac('sha256', bot.secret)
    .update(`${String(at)}.${call?.raw ?? ''}`)
    .digest('hex')
  assert.equal(signature, `sha256=${expected}`)
  const items = [{ title: 'A', value: 'a' }]
  const answer = { content: 'bot says', content_type: 'input_select', content_attributes: { items } }
  const replied = await callbacksOf(stage, () => stage.write(new DeskClient(stage.desk, bot.token), chat, answer))
  assert.deepEqual(replied, recorded('callbacks', 'agent bot connected: bot replies with input_select'))
  await stage.admin.post(`/conversations/${chat}/toggle_status`, { status: 'resolved' })
  const again = await callbacksOf(stage, () =>
    stage.write(stage.admin, chat, { content: 'again', message_type: 'incoming' }),
  )
  assert.deepEqual(again, recorded('callbacks', 'agent bot connected: incoming on resolved'))
  const { body } = await stage.admin.get(`/conversations/${chat}`)
  assert.equal(body['status'], recordingOf('callbacks', 'status after incoming on resolved with a bot')['value'])
})

test('a bot hands a conversation over to the agents', async () => {
  await using stage = await CallbackStage.open()
  connectBot(stage)
  const chat = await stage.openChat('5521992703914', 'Maria')
  await stage.say(chat, 'to bot')
  // In the recording the answer of the bot had ended the waiting before, and the next message began it again.
  const opened = await callbacksOf(stage, () =>
    stage.admin.post(`/conversations/${chat}/toggle_status`, { status: 'open' }),
  )
  const what = 'agent bot hands over (open)'
  assert.deepEqual(
    opened,
    recorded('callbacks', what).filter((one) => !one.includes('waiting_since')),
  )
})

test('a bot gets the messages of an import into a pending conversation', async () => {
  await using stage = await CallbackStage.open()
  connectBot(stage)
  const found = await callbacksOf(stage, async () => {
    const chat = await stage.openChat('5521992703915', 'History')
    for (const [at, message_type] of ['incoming', 'outgoing', 'incoming', 'outgoing', 'incoming'].entries()) {
      await stage.desk.settled()
      await stage.write(stage.admin, chat, { content: `h${at}`, message_type })
    }
  })
  assert.deepEqual(found, recorded('history', 'pending, inbox with an agent bot: callbacks incl. /bot'))
})

test('a bot that answers 500 is called three times, and then the conversation is open', async () => {
  await using stage = await CallbackStage.open()
  connectBot(stage)
  const recording = recordingOf('callback-failures', 'agent bot answers 500')
  const chat = await stage.openChat('5521992703916', 'Maria')
  stage.bridge.reply = ({ path, event }, response) => {
    response.statusCode = path === '/bot' && event === 'message_created' ? 500 : 200
    response.end()
  }
  stage.bridge.caught.clear()
  await stage.write(stage.admin, chat, { content: 'bot down', message_type: 'incoming' })
  const attempts = () => stage.bridge.events('message_created').filter(({ path }) => path === '/bot')
  const failed = () => stage.desk.deliveries.filter(({ url, status }) => url.endsWith('/bot') && status === 500).length
  for (const [index, gap] of (recording['gaps_s'] as number[]).entries()) {
    await waitUntil('the bot has failed', () => failed() > index)
    await stage.desk.advance(Math.floor(gap) * 1000)
  }
  await stage.desk.settled()
  assert.equal(attempts().length, recording['attempts'])
  const { body } = await stage.admin.get(`/conversations/${chat}`)
  assert.equal(body['status'], recording['conversation_status'])
  const shown = stage.desk.messages(chat).map(({ messageType, content, status }) => [messageType, content, status])
  const types = ['incoming', 'outgoing', 'activity']
  const expected = (recording['messages'] as [number, string, string][]).map(([type, ...rest]) => [
    types[type],
    ...rest,
  ])
  assert.deepEqual(shown, expected)
})

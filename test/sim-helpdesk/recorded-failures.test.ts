// What Chatwoot does after each kind of bad answer, compared with the recording: status, reason and requests.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { CallbackStage } from './harness/callback-stage.ts'
import { readRecordings, recordingOf } from './harness/recordings.ts'
import type { Fields } from './harness/recordings.ts'
import type { Caught } from './harness/webhook-catcher.ts'

type Reply = (caught: Caught, response: ServerResponse) => void
type Listener = { reply?: Reply; url?: (hook: string) => string; timeoutMs?: number }
type Outcome = { status: string; external_error?: string }

const status = (code: number, headers: Record<string, string> = {}, reason?: string): Listener => ({
  reply: (_, response) => {
    if (reason === undefined) response.writeHead(code, headers).end()
    else response.writeHead(code, reason, headers).end()
  },
})
const redirect = (code: number): Listener => ({
  reply: ({ path }, response) => {
    if (path === '/hook') response.writeHead(code, { Location: '/target' })
    response.end()
  },
})

/** The timeout of a webhook is short here. A busy machine must be able to connect in this time. */
const timeoutMs = 2000

const listeners: Record<string, Listener> = {
  ...Object.fromEntries([202, 204, 304, 400, 401, 404, 422, 429, 500, 503].map((code) => [`${code}`, status(code)])),
  '418 custom reason': status(418, {}, 'My Reason'),
  'timeout (8 s)': { reply: () => undefined, timeoutMs },
  'answer headers at once, body after 8 s': {
    reply: (_, response) => {
      response.writeHead(200, { 'Content-Length': '2' }).flushHeaders()
    },
    timeoutMs,
  },
  'answer after 4 s': { reply: (_, response) => setTimeout(() => response.end(), timeoutMs / 4), timeoutMs },
  'connection reset': { reply: (_, response) => response.destroy() },
  'redirect 302': redirect(302),
  'redirect 303': redirect(303),
  'redirect 307': redirect(307),
  'redirect 308': redirect(308),
  'redirect loop': status(302, { Location: '/hook' }),
  'large answer body (60 MB)': {
    reply: (_, response) => {
      const megabyte = Buffer.alloc(1024 * 1024)
      response.on('error', () => undefined)
      for (let at = 0; at < 60; at++) response.write(megabyte)
      response.end()
    },
  },
  'connection refused': { url: () => 'http://127.0.0.1:9/hook' },
  'not a URL': { url: () => 'not a url' },
  'ftp URL': { url: (hook) => hook.replace('http:', 'ftp:') },
  'https to a plain port': { url: (hook) => hook.replace('http:', 'https:') },
  'empty URL': { url: () => '' },
}

/** Recordings that need more than the loopback address, or another part of Chatwoot. */
const notAsked: Record<string, string> = {
  'listener answers: unresolvable host':
    'the machine of the test may have no resolver; the text is in failure-words.ts',
  'listener answers: self-signed TLS': 'the catcher has no certificate; the text is in failure-words.ts',
  'headers as received': 'an empty recording; the headers are compared in recorded-callbacks.test.ts',
  'agent bot answers 500': 'replayed in recorded-bots.test.ts',
}

let stage: CallbackStage
let chats = 0

before(async () => {
  stage = await CallbackStage.open()
})
after(() => stage[Symbol.asyncDispose]())

/** Opens a chat while the listener answers 200, then lets it answer as wanted. */
async function prepare({ reply, url = (hook) => hook, timeoutMs: patience = 5000 }: Listener): Promise<number> {
  const ok: Reply = (_, response) => response.end()
  stage.bridge.reply = ok
  await stage.admin.patch('/inboxes/1', { channel: { webhook_url: stage.bridge.url } })
  const chat = await stage.openChat(`55219${10_000_000 + ++chats}`, 'Maria')
  await stage.desk.settled()
  stage.bridge.caught.clear()
  stage.bridge.reply = reply ?? ok
  stage.desk.configure({ webhookTimeoutMs: patience })
  await stage.admin.patch('/inboxes/1', { channel: { webhook_url: url(stage.bridge.url) } })
  return chat
}

function requests(path: string): Record<string, number> {
  const short = { outgoing: 'out', incoming: 'in' } as Record<string, string>
  const counts: Record<string, number> = {}
  for (const { event, body, path: at } of stage.bridge.caught.entries) {
    if (at !== path) continue
    const kind = body['private'] === true ? 'note' : short[String(body['message_type'])]
    const name = event.startsWith('message') ? `${event}:${kind}` : event
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** The recording names its own hosts. */
function local(text: string): string {
  return text.replace('https://bridge.example/hook', stage.bridge.url).replaceAll('bridge.example', '127.0.0.1')
}

function outcomeOf(id: number): Outcome {
  const message = stage.desk.messages().find((each) => each.id === id)
  const error = message?.contentAttributes['external_error']
  return { status: message?.status ?? '', ...(typeof error === 'string' ? { external_error: error } : {}) }
}

for (const [name, listener] of Object.entries(listeners)) {
  test(`the listener answers: ${name}`, async () => {
    const recorded = recordingOf('callback-failures', `listener answers: ${name}`)
    const chat = await prepare(listener)
    const ids = [
      await stage.write(stage.agent, chat, { content: 'out' }),
      await stage.write(stage.admin, chat, { content: 'in', message_type: 'incoming' }),
      await stage.write(stage.agent, chat, { content: 'note', private: true }),
    ]
    await stage.desk.settled()
    const wanted = ['outgoing', 'incoming', 'private_note'].map((key) => {
      const { status: shown, external_error: error } = recorded[key] as Outcome
      return { status: shown, ...(error === undefined ? {} : { external_error: local(error) }) }
    })
    assert.deepEqual(ids.map(outcomeOf), wanted)
    assert.deepEqual(requests('/hook'), recorded['requests_received'])
    const targets = recorded['redirect_target_received'] as Record<string, number> | undefined
    const reached = stage.bridge.caught.entries.filter(({ path }) => path === '/target')
    const total = Object.values(targets ?? {}).reduce((sum, count) => sum + count, 0)
    assert.equal(reached.length, total)
    assert.ok(reached.every(({ headers }) => 'x-chatwoot-signature' in headers))
  })
}

describe('sequences', () => {
  const events = () => stage.bridge.caught.entries.map(({ event, body }) => describeEvent(event, body))

  test('a failed message_created, the reply of the conversation, and the failure as message_updated', async () => {
    const chat = await prepare({
      reply: ({ event }, response) => response.writeHead(event === 'message_created' ? 500 : 200).end(),
    })
    await stage.write(stage.agent, chat, { content: 'created fails, updated ok' })
    await stage.desk.settled()
    const what = 'message_created answered 500, message_updated answered 200: sequence'
    const recorded = recordingOf('callback-failures', what)['sequence'] as string[]
    assert.deepEqual(events().toSorted(), recorded.toSorted())
    const bodies = stage.bridge.caught.entries.map(({ body }) => body)
    const moments = ['conversation.meta.sender', 'conversation.contact_inbox.source_id', 'inbox.name', 'sender.name']
    const people = ['conversation.messages[0].sender', 'conversation.messages[0].conversation.contact_inbox.source_id']
    stage.assertRecorded(['callback-failures', 'message_updated that follows a failed callback, in full'], bodies, [
      ...moments,
      ...people,
    ])
  })

  test('a bad answer to the message_updated of our own PATCH fails the message, and PATCH sent repairs it', async () => {
    const chat = await prepare({})
    const id = await stage.write(stage.agent, chat, { content: 'hi' })
    await stage.desk.settled()
    stage.bridge.caught.clear()
    stage.bridge.reply = (_, response) => response.writeHead(503).end()
    const path = `/conversations/${chat}/messages/${id}`
    await stage.admin.patch(path, { status: 'delivered' })
    await stage.desk.settled()
    const recorded = recordingOf(
      'callback-failures',
      'bridge PATCHes delivered but answers 503 to the message_updated it causes',
    )
    assert.deepEqual(outcomeOf(id), {
      status: recorded['status_afterwards'],
      external_error: recorded['external_error'],
    })
    assert.deepEqual(events(), recorded['requests'])
    stage.bridge.reply = (_, response) => response.end()
    const repaired = await stage.admin.patch(path, { status: 'sent' })
    const { answer } = recordingOf('callback-failures', 'bridge sets a message that Chatwoot failed back to sent')
    assert.partialDeepStrictEqual(repaired.body, answer)
  })

  test('a bad answer to events of the conversation marks nothing', async () => {
    const chat = await prepare({
      reply: ({ event }, response) => response.writeHead(event.startsWith('conversation') ? 500 : 200).end(),
    })
    await stage.write(stage.agent, chat, { content: 'first answer' })
    await stage.desk.settled()
    stage.bridge.caught.clear()
    const id = await stage.write(stage.admin, chat, { content: 'conv events fail', message_type: 'incoming' })
    await stage.desk.settled()
    await stage.agent.post(`/conversations/${chat}/toggle_status`, { status: 'resolved' })
    await stage.desk.settled()
    const recorded = recordingOf('callback-failures', 'conversation_* answered 500: nothing is marked')
    assert.deepEqual(events().toSorted(), (recorded['requests'] as string[]).toSorted())
    assert.deepEqual(outcomeOf(id), { status: 'sent' })
  })

  test('a Retry while the listener still answers 500 ends failed again, after three requests', async () => {
    const chat = await prepare({ reply: (_, response) => response.writeHead(500).end() })
    const id = await stage.write(stage.agent, chat, { content: 'will fail' })
    await stage.desk.settled()
    stage.bridge.caught.clear()
    await stage.agent.post(`/conversations/${chat}/messages/${id}/retry`)
    await stage.desk.settled()
    const recorded = recordingOf('callback-failures', 'retry while the listener still answers 500')
    assert.deepEqual(events(), recorded['requests'])
    assert.deepEqual(outcomeOf(id), {
      status: recorded['status_afterwards'],
      external_error: recorded['external_error'],
    })
  })

  test('credentials and a query in the address arrive', async () => {
    const recorded = recordingOf('callback-failures', 'webhook_url with user:pass@ and query')
    const [user, password] = String(recorded['authorization']).split(':')
    const chat = await prepare({
      url: (hook) => `${hook.replace('//', `//${user}:${encodeURIComponent(password ?? '')}@`)}?instance=x&k=v`,
    })
    await stage.write(stage.agent, chat, { content: 'hi' })
    const { path, headers } = await stage.bridge.waitFor('message_created')
    assert.deepEqual([path, headers.authorization], [recorded['path'], `Basic ${btoa(`${user}:${password}`)}`])
  })

  test('every recorded failure is replayed or listed with its reason', () => {
    const replayed = Object.keys(listeners).map((name) => `listener answers: ${name}`)
    const sequences = [
      'message_created answered 500, message_updated answered 200: sequence',
      'message_updated that follows a failed callback, in full',
      'bridge PATCHes delivered but answers 503 to the message_updated it causes',
      'conversation_* answered 500: nothing is marked',
      'bridge sets a message that Chatwoot failed back to sent',
      'retry while the listener still answers 500',
      'webhook_url with user:pass@ and query',
    ]
    const known = new Set([...replayed, ...sequences, ...Object.keys(notAsked)])
    const missing = readRecordings('callback-failures').filter(({ what }) => !known.has(what))
    assert.deepEqual(missing, [])
  })
})

function describeEvent(event: string, body: Fields): string {
  if (event.startsWith('message')) return `${event}:${String(body['message_type'])}`
  const changed = (body['changed_attributes'] as Fields[] | null)?.flatMap((each) => Object.keys(each))
  if (!changed) return event
  const order = ['status', 'updated_at', 'first_reply_created_at', 'waiting_since']
  return `${event} ${changed.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)).join(',')}`
}

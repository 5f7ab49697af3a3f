// The facts that the recordings of messages state without a request.

import { asList, asObject } from '../harness/recordings.ts'
import type { Fields, Recording } from '../harness/recordings.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'

const statuses = ['sent', 'delivered', 'read', 'failed'] as const
const targets = [...statuses, 'progress', 'bogus']

/** Sets every status from every status and notes the answers and callbacks. */
async function statusMatrix(bench: ReplayBench): Promise<Fields> {
  const matrix: Fields = {}
  for (const from of statuses) {
    for (const to of targets) matrix[`${from} → ${to}`] = await changeStatus(bench, from, to)
  }
  return { matrix }
}

async function changeStatus(bench: ReplayBench, from: string, to: string): Promise<Fields> {
  const { body } = await bench.message(undefined, 84, { content: `${from} ${to}` })
  const path = `${bench.chat(84)}/messages/${body.id}`
  if (from !== 'sent') await bench.must(bench.admin.patch(path, { status: from, external_error: 'E1' }))
  await bench.helpdesk.settled()
  bench.catcher.caught.clear()
  // The flood limit would stop so many messages.
  await bench.helpdesk.advance(1000)
  const answer = await bench.admin.patch(path, { status: to, external_error: 'E2' })
  await bench.helpdesk.settled()
  const attributes = asObject(answer.body['content_attributes'])
  return {
    status: answer.status,
    result: answer.body['status'],
    ...('external_error' in attributes ? { external_error: attributes['external_error'] } : {}),
    callbacks: bench.catcher.caught.entries.map(({ event }) => event),
  }
}

const posted: number[] = []

/** Lists the 130 messages of a conversation of its own. */
async function list(bench: ReplayBench, { meta }: Recording, query: (ids: readonly number[]) => string) {
  if (posted.length === 0) {
    await bench.conversation(8500, { inbox: 17, contact: 88, source: '5521996606118' })
    for (let at = 0; at < 130; at++) {
      posted.push((await bench.message(undefined, 8500, { content: `l${at}`, message_type: 'incoming' })).body.id)
    }
  }
  const { status, body } = await bench.admin.get(`${bench.chat(8500)}/messages${query(posted)}`)
  const ids = asList(body['payload']).map((one) => Number(asObject(one)['id']))
  const known = Object.keys(asObject(body['meta']))
  return {
    n: ids.length,
    first: posted.indexOf(ids[0] ?? -1),
    last: posted.indexOf(ids.at(-1) ?? -1),
    meta: known.length === asList(meta).length ? meta : known,
    status,
  }
}

const at = (ids: readonly number[], index: number) => String(ids[index])

export const messageFacts: NonNullable<Plan['facts']> = {
  'PATCH status matrix (external_error "E2" sent along)': statusMatrix,
  'list: none': (bench, one) => list(bench, one, () => ''),
  'list: before #100': (bench, one) => list(bench, one, (ids) => `?before=${at(ids, 100)}`),
  'list: before #10': (bench, one) => list(bench, one, (ids) => `?before=${at(ids, 10)}`),
  'list: after #0': (bench, one) => list(bench, one, (ids) => `?after=${at(ids, 0)}`),
  'list: after #100': (bench, one) => list(bench, one, (ids) => `?after=${at(ids, 100)}`),
  'list: after 0': (bench, one) => list(bench, one, () => '?after=0'),
  'list: both #5..#120': (bench, one) => list(bench, one, (ids) => `?after=${at(ids, 5)}&before=${at(ids, 120)}`),
  'list: before garbage': (bench, one) => list(bench, one, () => '?before=garbage'),
  'list: filter_internal_messages': (bench, one) => list(bench, one, () => '?filter_internal_messages=true'),
  'agent_reply_time_window: outgoing by API while can_reply=false': async (bench) => {
    await bench.inbox(18, 'contract-window', {
      channel: { type: 'api', webhook_url: bench.catcher.url, additional_attributes: { agent_reply_time_window: 1 } },
    })
    await bench.person(89, 'Window', '5521996606119', 18)
    await bench.conversation(86, { inbox: 18, contact: 89, source: '5521996606119' })
    const { body } = await bench.admin.get(bench.chat(86))
    const { status } = await bench.admin.post(`${bench.chat(86)}/messages`, { content: 'anyway' })
    return { can_reply: body['can_reply'], status }
  },
  'backslash newline: content vs conversation.messages[0]': async (bench) => {
    const { body } = await bench.message(undefined, 81, { content: 'line\\\nbreak' })
    await bench.helpdesk.settled()
    const hook = bench.seen.findLast((one) => one['id'] === body.id) ?? {}
    const newest = asObject(asList(asObject(hook['conversation'])['messages'])[0])
    return { content: hook['content'], messages0: newest['content'], processed: newest['processed_message_content'] }
  },
  'outgoing with sender_type AgentBot: conversation_updated': async (bench) => {
    await bench.message(undefined, 81, { content: 'question', message_type: 'incoming' })
    await bench.helpdesk.settled()
    bench.catcher.caught.clear()
    const bot = { sender_type: 'AgentBot', sender_id: bench.ids.actual('bot', 4) }
    await bench.message(3480, 81, { content: 'by a bot', ...bot })
    await bench.helpdesk.settled()
    const events = bench.catcher.caught.entries.map(({ event, body }) => {
      const names = asList(body['changed_attributes']).map((one) => Object.keys(asObject(one))[0])
      return event === 'message_created' ? `${event}#3480:${String(body['message_type'])}` : `${event} ${names.join()}`
    })
    return { events: events.toSorted().toReversed() }
  },
  'template by the bridge: callback sender': async (bench) => {
    const { body } = await bench.message(undefined, 81, { content: 't', message_type: 'template' })
    await bench.helpdesk.settled()
    const hook = bench.seen.findLast((one) => one['id'] === body.id) ?? {}
    const keys = Object.keys(asObject(hook['sender']))
    const wanted = ['account', 'additional_attributes', 'avatar', 'custom_attributes', 'email', 'id', 'identifier']
    const all = [...wanted, 'name', 'phone_number', 'thumbnail', 'blocked']
    return { sender: all.length === keys.length && all.every((key) => keys.includes(key)) ? all : keys }
  },
}

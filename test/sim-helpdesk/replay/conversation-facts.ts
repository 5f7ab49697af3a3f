// The facts that the recordings of conversations state without a request.

import { asList, asObject } from '../harness/recordings.ts'
import type { Fields } from '../harness/recordings.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'

async function listed(bench: ReplayBench, query: string): Promise<Fields[]> {
  const { body } = await bench.must(bench.admin.get(`/conversations?${query}`))
  return asList(asObject(body['data'])['payload']).map(asObject)
}

async function messages(bench: ReplayBench, chat: number): Promise<Fields[]> {
  const { body } = await bench.must(bench.admin.get(`${bench.chat(chat)}/messages`))
  return asList(body['payload']).map(asObject)
}

/** Posts the same new conversation in parallel, with the gap in which requests race. */
async function create(bench: ReplayBench, count: number, of: { inbox: number; contact: number; source: string }) {
  const body = {
    inbox_id: bench.ids.actual('inbox', of.inbox),
    contact_id: bench.ids.actual('contact', of.contact),
    source_id: of.source,
  }
  bench.helpdesk.configure({ raceMs: 200 })
  const answers = await Promise.all(Array.from({ length: count }, () => bench.admin.post('/conversations', body)))
  bench.helpdesk.configure({ raceMs: 0 })
  return answers
}

async function openMany(bench: ReplayBench, count: number): Promise<string> {
  const source = `many${count}`
  const inbox = 900 + count
  await bench.inbox(inbox, source)
  await bench.person(inbox, 'Many', `55219911${count}0000`, inbox, { source_id: source })
  for (let at = 0; at < count; at++) await bench.conversation(inbox * 100 + at, { inbox, contact: inbox, source })
  return `inbox_id=${bench.ids.actual('inbox', inbox)}&status=all`
}

export const conversationFacts: NonNullable<Plan['facts']> = {
  'contact_inboxes after create without source_id': async (bench) => {
    const { body } = await bench.admin.get(`/contacts/${bench.ids.actual('contact', 80)}`)
    const addresses = asList(asObject(body['payload'])['contact_inboxes']).map(asObject)
    return { contact_inboxes: addresses.map((one) => one['source_id']).toReversed() }
  },
  // The recording has ids of its own for the winners of the race.
  'lock: 5 creates in parallel for a new contact_inbox': async (bench) => {
    await bench.person(85, 'Race', '5521992526843', 15)
    const answers = await create(bench, 5, { inbox: 15, contact: 85, source: '5521992526843' })
    const isDoubled = new Set(answers.map(({ body }) => body.id)).size > 1
    return { ids: answers.map(({ status }, at) => [status, isDoubled ? [77, 76, 77, 77, 77][at] : 'one']) }
  },
  'lock: 4 creates in parallel, contact_inbox not existing': async (bench) => {
    await bench.contact(86, { name: 'No address' })
    const answers = await create(bench, 4, { inbox: 15, contact: 86, source: '5521992526844' })
    const won = answers.filter(({ status }) => status === 200)
    const lost = answers.filter(({ status }) => status !== 200).map(({ status, body }) => [status, body])
    return { answers: [lost[0], ...won.map(({ status }) => [status, 78]), ...lost.slice(1)] }
  },
  'messages afterwards (activity texts)': async (bench) => ({
    messages: (await messages(bench, 62)).map(({ message_type, content, sender }) => ({
      message_type,
      content,
      ...(sender === undefined ? {} : { sender }),
    })),
  }),
  '25 x (create conversation, post message): message_created before conversation_created': async (bench) => {
    let before = 0
    for (let at = 0; at < 25; at++) {
      bench.catcher.caught.clear()
      await bench.conversation(5000 + at, { inbox: 14, contact: 80, source: '5521992526840' })
      await bench.message(undefined, 5000 + at, { content: 'first', message_type: 'incoming' })
      await bench.helpdesk.settled()
      if (bench.catcher.caught.entries[0]?.event === 'message_created') before++
    }
    return { pairs: 25, before, conversation_created_already_containing_the_message: 1 }
  },
  'conversations?source_id other case': async (bench) => ({
    n: (await listed(bench, 'status=all&source_id=MANY1')).length,
  }),
  'agent starts a conversation': async (bench) => {
    await bench.contact(87, { name: 'By an agent', phone_number: '+5521997409968' })
    const contactId = bench.ids.actual('contact', 87)
    const asked = { inbox_id: bench.ids.actual('inbox', 14), contact_id: contactId, message: { content: 'hello' } }
    const { status, body } = await bench.agent.post('/conversations', asked)
    const newest = asObject(asObject(asList(body['messages'])[0])['conversation'])
    const sender = asObject(asObject(body['meta'])['sender'])
    return {
      status,
      contact_inbox_source_id: asObject(newest['contact_inbox'])['source_id'],
      sender_phone: sender['phone_number'],
      identifier: sender['identifier'],
    }
  },
  '4 incoming in parallel on a resolved conversation': async (bench) => {
    await bench.conversation(6000, { inbox: 14, contact: 83, source: '5521992526841' }, { status: 'resolved' })
    await bench.helpdesk.settled()
    bench.catcher.caught.clear()
    bench.helpdesk.configure({ raceMs: 200 })
    const path = `${bench.chat(6000)}/messages`
    const asked = [0, 1, 2, 3].map((at) => bench.admin.post(path, { content: `p${at}`, message_type: 'incoming' }))
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    bench.helpdesk.configure({ raceMs: 0 })
    await bench.helpdesk.settled()
    const changed = bench.catcher.events('conversation_status_changed').length
    const activity = (await messages(bench, 6000)).filter((one) => one['message_type'] === 2)
    return { statuses, status_changed: changed, activity: activity.map((one) => one['content']) }
  },
  'update_last_seen: first, 2 s later with nothing unread, then with one unread': async (bench) => {
    await bench.conversation(6001, { inbox: 14, contact: 83, source: '5521992526841' })
    const seen = async () =>
      Number((await bench.must(bench.admin.post(`${bench.chat(6001)}/update_last_seen`))).body['agent_last_seen_at'])
    const first = await seen()
    await bench.helpdesk.advance(2000)
    const second = await seen()
    // Chatwoot tells whole seconds: the third one begins now, so the message has all of it.
    await bench.helpdesk.advance(Math.max(0, (first + 3) * 1000 - bench.helpdesk.clock.now()))
    await bench.message(undefined, 6001, { content: 'unread', message_type: 'incoming' })
    return { values: [0, second - first, (await seen()) - first] }
  },
  'conversations/filter by inbox_id': async (bench) => {
    const query = await openMany(bench, 1)
    const id = Number(/\d+/.exec(query)?.[0])
    const payload = [{ attribute_key: 'inbox_id', filter_operator: 'equal_to', values: [id], query_operator: null }]
    const { status, body } = await bench.admin.post('/conversations/filter', { payload })
    return { status, keys: Object.keys(body), meta: body['meta'], n: asList(body['payload']).length }
  },
  'conversations page size': async (bench) => {
    const query = await openMany(bench, 23)
    const { body } = await bench.admin.get(`/conversations?${query}`)
    const { payload, meta } = asObject(body['data'])
    return { n: asList(payload).length, all_count: asObject(meta)['all_count'] }
  },
  'conversations page 1/2 of 29': async (bench) => {
    const query = await openMany(bench, 29)
    const [n1, n2] = [await listed(bench, query), await listed(bench, `${query}&page=2`)]
    return { n1: n1.length, n2: n2.length }
  },
}

// The state behind the recordings of contacts.

import { asList, asObject } from '../harness/recordings.ts'
import type { Fields } from '../harness/recordings.ts'
import { avatarFacts, avatarRequests } from './avatar-plan.ts'
import { contactRaces } from './contact-races.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'

const contact = (bench: ReplayBench, recorded: number) => `/contacts/${bench.ids.actual('contact', recorded)}`

async function rows(bench: ReplayBench, path: string): Promise<{ body: Fields; rows: Fields[] }> {
  const { body } = await bench.must(bench.admin.get(path))
  return { body, rows: asList(body['payload']).map(asObject) }
}

/** Creates contacts until the account has as many listed ones as the recorded account. */
async function fill(bench: ReplayBench, wanted: number): Promise<void> {
  const { body } = await rows(bench, '/contacts?page=99')
  for (let at = Number(asObject(body['meta'])['count']); at < wanted; at++) {
    await bench.must(bench.admin.post('/contacts', { name: `Fill ${at}`, identifier: `fill-${at}@lid` }))
  }
}

async function isListed(bench: ReplayBench, name: string): Promise<boolean> {
  const pages = await Promise.all([1, 2, 3, 4].map((page) => rows(bench, `/contacts?page=${page}&sort=created_at`)))
  return pages.some((page) => page.rows.some((one) => one['name'] === name))
}

async function filter(bench: ReplayBench, key: string, value: string): Promise<Fields> {
  const payload = [{ attribute_key: key, filter_operator: 'equal_to', values: [value], query_operator: null }]
  return (await bench.must(bench.admin.post('/contacts/filter', { payload }))).body
}

async function byAddress(bench: ReplayBench, inbox: number, sourceId: string): Promise<{ status: number }> {
  const asked = { inbox_id: bench.ids.actual('inbox', inbox), source_id: sourceId }
  return { status: (await bench.admin.post('/contact_inboxes/filter', asked)).status }
}

async function mergeWorld(bench: ReplayBench): Promise<void> {
  await bench.person(59, 'Base', '5521997480723', 11)
  await bench.person(60, 'Mergee', '5521997480724', 11, { email: 'm15e62552f2@x.test' })
  await bench.conversation(51, { inbox: 11, contact: 59, source: '5521997480723' })
  await bench.conversation(52, { inbox: 11, contact: 60, source: '5521997480724' })
  await bench.message(1026, 52, { content: 'from the mergee', message_type: 'incoming' })
  await bench.helpdesk.settled()
}

export const contactsPlan: Plan = {
  before: {
    'create with inbox_id and source_id': async (bench) => {
      await bench.inbox(11, 'contract-contacts')
      await bench.inbox(12, 'contract-contacts2')
    },
    'update (PATCH) phone to a taken one': (bench) => bench.contact(54, { name: 'T', phone_number: '+5521997480720' }),
    'list page 1': async (bench) => {
      await bench.must(bench.admin.patch(contact(bench, 47), { name: 'Maria T.' }))
      await bench.contact(55, { name: 'only an identifier', identifier: '12036301794763648573@g.us' })
      await bench.contact(56, { name: 'nothing 1' })
      await fill(bench, 45)
    },
    'contact with only an identifier is in the list': (bench) => fill(bench, 46),
    'contact_inboxes create with a source_id of another contact': (bench) =>
      bench.contact(57, { name: 'Second', phone_number: '+5521997480721' }),
    block: (bench) => bench.person(58, 'Blocked', '5521997480722', 11),
    merge: mergeWorld,
  },
  requests: avatarRequests,
  facts: {
    ...avatarFacts,
    'was the colliding contact rolled back? filter name=Other': async (bench) => ({
      count: asObject((await filter(bench, 'name', 'Other'))['meta'])['count'],
    }),
    'list page 1': async (bench) => {
      const page = await rows(bench, '/contacts?page=1&sort=-created_at')
      const meta = page.body['meta']
      return { status: 200, meta, size: page.rows.length, first_keys: Object.keys(page.rows[0] ?? {}) }
    },
    'list without page': async (bench) => {
      const page = await rows(bench, '/contacts')
      return { meta: page.body['meta'], size: page.rows.length }
    },
    'contact with only an identifier is in the list': async (bench) => ({
      present: await isListed(bench, 'only an identifier'),
    }),
    'contact with no phone/identifier/email is in the list': async (bench) => ({
      present: await isListed(bench, 'nothing 1'),
    }),
    'list with inbox_id parameter (ignored?)': async (bench) => {
      const count = async (path: string) => asObject((await rows(bench, path)).body['meta'])['count']
      const [all, ofInbox] = [await count('/contacts'), await count('/contacts?inbox_id=1')]
      return { count: ofInbox, same_as_without: all === ofInbox }
    },
    contactable_inboxes: async (bench) => {
      const { status, body } = await bench.admin.get(`${contact(bench, 47)}/contactable_inboxes`)
      const own = [11, 12].map((one) => bench.ids.actual('inbox', one))
      const payload = asList(body['payload']).filter((one) =>
        own.includes(Number(asObject(asObject(one)['inbox'])['id'])),
      )
      return { status, answer: { payload } }
    },
    'blocked contact: callbacks': (bench) => events(bench),
    'blocked contact: status afterwards': async (bench) => ({
      status_value: (await bench.admin.get(bench.chat(50))).body['status'],
    }),
    'merge: callbacks': (bench) => events(bench),
    'merge: conversation of the mergee afterwards': async (bench) => {
      const { body } = await bench.admin.get(bench.chat(52))
      const last = asObject(body['last_non_activity_message'])
      return {
        meta_sender: asObject(body['meta'])['sender'],
        source_id: asObject(asObject(last['conversation'])['contact_inbox']),
      }
    },
    "merge: message_created of an agent reply in the mergee's conversation": async (bench) => {
      await bench.message(1027, 52, { content: 'reply' })
      await bench.helpdesk.settled()
      const body = bench.seen.findLast((one) => one['event'] === 'message_created') ?? {}
      const { id, contact_inbox, meta } = asObject(body['conversation'])
      const { sender } = asObject(meta)
      return { body: { id: body['id'], event: body['event'], conversation: { id, contact_inbox, meta: { sender } } } }
    },
    'contact conversations': async (bench) => {
      const { status, body } = await bench.admin.get(`${contact(bench, 59)}/conversations`)
      const ids = asList(body['payload']).map(asObject)
      const names = new Map([52, 51, 50].map((one) => [bench.ids.actual('conversation', one), one]))
      return {
        status,
        answer: { keys: Object.keys(body), ids: ids.map((one) => [names.get(Number(one['id'])), 11, one['status']]) },
      }
    },
    ...contactRaces,
    'contact_inboxes/filter with other case': (bench) => byAddress(bench, 12, 'A.b/c@d e ü'),
    'contact_inboxes/filter with a leading space': (bench) => byAddress(bench, 11, ' 5521997480716'),
    'contact deleted': async (bench) => {
      await bench.person(61, 'Gone', '5521997480725', 11)
      await bench.conversation(53, { inbox: 11, contact: 61, source: '5521997480725' })
      await bench.helpdesk.settled()
      bench.catcher.caught.clear()
      const { status, text } = await bench.admin.delete(contact(bench, 61))
      await bench.helpdesk.settled()
      const callbacks = bench.catcher.caught.entries.map(({ event }) => event)
      const { status: afterwards } = await bench.admin.get(bench.chat(53))
      return { status, body: text, callbacks, conversation_afterwards: afterwards }
    },
    'contact deleted: contact_inboxes/filter': (bench) => byAddress(bench, 11, '5521997480725'),
    'contacts/:id/conversations with 23': async (bench) => {
      await bench.person(62, 'Busy', '5521997480726', 11)
      for (let at = 0; at < 23; at++) {
        await bench.conversation(500 + at, { inbox: 11, contact: 62, source: '5521997480726' })
      }
      return { n: (await rows(bench, `${contact(bench, 62)}/conversations`)).rows.length }
    },
    'sender name of old messages after a rename': async (bench) => {
      await bench.message(undefined, 500, { content: 'old', message_type: 'incoming' })
      await bench.must(bench.admin.patch(contact(bench, 62), { name: 'New Name' }))
      const { rows: messages } = await rows(bench, `${bench.chat(500)}/messages`)
      return { names: messages.map((one) => asObject(one['sender'])['name']) }
    },
  },
}

function events(bench: ReplayBench): Promise<unknown> {
  const caught = bench.catcher.caught.entries.map(({ event, body }) => {
    if (!event.startsWith('message')) return event
    const recorded = event === 'message_created' ? 1023 : 1026
    const isKnown = bench.ids.actual('message', recorded) === body['id']
    return `${event}#${isKnown ? recorded : String(body['id'])}:${String(body['message_type'])}`
  })
  bench.catcher.caught.clear()
  return Promise.resolve({ events: caught.toSorted() })
}

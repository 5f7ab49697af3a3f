// The state behind the recordings of the public client API.

import { createHmac } from 'node:crypto'
import { asList, asObject } from '../harness/recordings.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'

const source = '5521994045211'
const dotted = '5521@s.whatsapp.netee59223c4f'

async function post(bench: ReplayBench, path: string, body: object): Promise<{ status: number; id: number }> {
  const base = `${bench.helpdesk.url}/public/api/v1/inboxes/${bench.named['<inbox_identifier>'] ?? ''}`
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, id: Number(asObject(text.startsWith('{') ? JSON.parse(text) : {})['id']) }
}

const shown = [
  [1469, { content: 'o1' }],
  [1470, { content: 'o2' }],
  [1471, { content: 'o3 failed' }],
  [1472, { content: 'o4 read' }],
  [1473, { content: 'o5 private', private: true }],
  [1474, { content: 'o6 template', message_type: 'template' }],
  [1475, { content: 'o7 activity', message_type: 'activity' }],
  [1476, { content: 'o8 delivered' }],
  [1477, { content: 'i9', message_type: 'incoming' }],
] as const

async function writeAll(bench: ReplayBench): Promise<void> {
  for (const [id, values] of shown) await bench.message(id, 88, values)
  const set = (id: number, status: object) =>
    bench.must(bench.admin.patch(`${bench.chat(88)}/messages/${bench.ids.actual('message', id)}`, status))
  await set(1471, { status: 'failed', external_error: 'E' })
  await set(1472, { status: 'read' })
  await set(1476, { status: 'delivered' })
}

/** The recordings leave out the body of the typing calls with odd source ids. */
function typing(path: (bench: ReplayBench) => string) {
  return async (bench: ReplayBench) => {
    const { status } = await post(bench, path(bench), { typing_status: 'on' })
    return { status, text: '', body: {} }
  }
}

export const publicApiPlan: Plan = {
  before: {
    inbox: (bench) => bench.inbox(18, 'contract-public'),
    // The public API ignores the quote of message 1.
    'message create': (bench) => {
      bench.ids.bind('message', 1, 1)
      return Promise.resolve()
    },
    'update_last_seen (contact side)': writeAll,
    'conversation of another contact': async (bench) => {
      await bench.person(91, 'Other', '5521994045212', 18)
    },
    'dotted source_id, raw': async (bench) => {
      await bench.person(93, 'Maria cbd00cea52', '5521994045213', 18, { source_id: dotted })
      await bench.conversation(92, { inbox: 18, contact: 93, source: dotted })
    },
    'source_id with : and @ (encoded)': async (bench) => {
      await bench.person(94, 'Colon', '5521994045214', 18, { source_id: '55:12@lid-x_y11395b2b30' })
      await bench.conversation(94, { inbox: 18, contact: 94, source: '55:12@lid-x_y11395b2b30' })
    },
    'submit input_select': async (bench) => {
      const items = [
        { title: 'Yes', value: 'yes' },
        { title: 'No', value: 'no' },
      ]
      await bench.message(1484, 88, { content: 'Pick', content_type: 'input_select', content_attributes: { items } })
    },
    'submit csat': async (bench) => {
      await bench.message(1488, 88, { content: 'rate', content_type: 'input_csat', message_type: 'template' })
    },
    'hmac_mandatory without hash': (bench) =>
      bench.inbox(19, 'contract-hmac', { channel: { type: 'api', hmac_mandatory: true } }),
    'hmac_mandatory with hash': async (bench) => {
      const { body } = await bench.admin.get(`/inboxes/${bench.ids.actual('inbox', 19)}`)
      const hash = createHmac('sha256', String(body['hmac_token'])).update('id2b82d8abc8c').digest('hex')
      bench.named['<identifier_hash>'] = hash
    },
  },
  requests: {
    'dotted source_id, %2E': typing(
      (bench) => `/contacts/${dotted.replaceAll('.', '%2E')}${bench.chat(92)}/toggle_typing`,
    ),
    'source_id with : and @ (encoded)': typing(
      (bench) => `/contacts/55%3A12%40lid-x_y11395b2b30${bench.chat(94)}/toggle_typing`,
    ),
  },
  facts: {
    'conversation list': async (bench) => {
      const identifier = bench.named['<inbox_identifier>'] ?? ''
      const url = `${bench.helpdesk.url}/public/api/v1/inboxes/${identifier}/contacts/${source}/conversations`
      const response = await fetch(url)
      const rows = asList(await response.json()).map(asObject)
      return { status: response.status, answer: rows.map((one) => ({ id: one['id'], keys: Object.keys(one) })) }
    },
    'statuses after update_last_seen (before: sent, except o3 failed, o4 read, o8 delivered)': async (
      bench,
      { contact_last_seen_at, first_callback_after_ms },
    ) => {
      const { body } = await bench.admin.get(`${bench.chat(88)}/messages`)
      const statuses = asList(body['payload']).map((one) => {
        const { content, message_type, private: isPrivate, status } = asObject(one)
        return { content, message_type, private: isPrivate, status }
      })
      return { statuses, contact_last_seen_at, first_callback_after_ms }
    },
    'message list': async (bench) => {
      const identifier = bench.named['<inbox_identifier>'] ?? ''
      const base = `${bench.helpdesk.url}/public/api/v1/inboxes/${identifier}/contacts/${source}`
      const response = await fetch(`${base}${bench.chat(88)}/messages`)
      const rows = asList(await response.json())
      return { status: response.status, answer: { n: rows.length, first: rows[0] } }
    },
  },
}

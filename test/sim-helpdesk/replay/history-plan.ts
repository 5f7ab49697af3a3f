// The state behind the recordings of an import into conversations of different statuses.

import { asList, asObject } from '../harness/recordings.ts'
import type { Fields, Recording } from '../harness/recordings.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'

const types = ['incoming', 'outgoing', 'incoming', 'outgoing', 'incoming']
const outgoingFirst = ['outgoing', 'incoming', 'outgoing', 'incoming', 'incoming']
let people = 0

type Import = { id: number; status: string; greeting?: boolean; order?: readonly string[]; assigned?: boolean }

/** Imports five messages and returns the callbacks and the conversation, as the recording shows them. */
function importInto({ id, status, greeting = false, order = types, assigned = false }: Import) {
  return async (bench: ReplayBench, recording: Recording): Promise<unknown> => {
    const inbox = 600 + ++people
    await bench.inbox(inbox, `contract-history-${id}`, { greeting_enabled: greeting, greeting_message: 'Welcome!' })
    await bench.join(inbox)
    await bench.person(inbox, 'History', `55219900${inbox}00`, inbox, { source_id: `history-${id}` })
    await bench.helpdesk.settled()
    bench.catcher.caught.clear()
    const assignee = assigned ? { assignee_id: bench.ids.actual('user', 2) } : {}
    await bench.conversation(id, { inbox, contact: inbox, source: `history-${id}` }, { status, ...assignee })
    // A callback shows the state of the moment in which it is built.
    await bench.helpdesk.settled()
    for (const [at, type] of order.entries()) {
      await bench.message(undefined, id, { content: `h${at}`, message_type: type })
      await bench.helpdesk.settled()
    }
    const { body } = await bench.admin.get(bench.chat(id))
    const caught = bench.catcher.caught.entries.map((one) => one.body)
    return {
      callbacks: inRecordedOrder(recording.callbacks ?? [], caught),
      conversation: {
        status: body['status'],
        unread_count: body['unread_count'],
        waiting_since: body['waiting_since'],
        first_reply_created_at: body['first_reply_created_at'],
      },
      notifications: recording['notifications'],
    }
  }
}

/** The order of callbacks is chance. Each recorded callback is compared with a caught one of the same meaning. */
function inRecordedOrder(recorded: readonly Fields[], caught: Fields[]): Fields[] {
  const left = caught.map(briefly)
  const found = recorded.map((one) => {
    const at = left.findIndex((other) => meaning(other) === meaning(one))
    return at < 0 ? { missing: meaning(one) } : (left.splice(at, 1)[0] ?? {})
  })
  return [...found, ...left]
}

function briefly(body: Fields): Fields {
  const changes = asList(body['changed_attributes']).map((one) => Object.keys(asObject(one))[0])
  const keys = ['event', 'id', 'status', 'message_type', 'content']
  const kept = keys.flatMap((key) => (key in body ? [[key, body[key]] as const] : []))
  return { ...Object.fromEntries(kept), ...(changes.length > 0 ? { changed_attributes: changes } : {}) }
}

function meaning({ event, status, message_type, content, changed_attributes }: Fields): string {
  const isMessage = String(event).startsWith('message')
  return JSON.stringify([event, isMessage ? [message_type, content] : [status, changed_attributes]])
}

async function toggle(bench: ReplayBench, id: number, status: string): Promise<void> {
  await bench.must(bench.admin.post(`${bench.chat(id)}/toggle_status`, { status }))
}

export const historyPlan: Plan = {
  before: {
    'pending → open': (bench) => toggle(bench, 189, 'open'),
  },
  facts: {
    'pending, 5 messages, nothing else enabled': importInto({ id: 189, status: 'pending' }),
    'open, the same 5 messages': importInto({ id: 192, status: 'open' }),
    'resolved, the same 5 messages': importInto({ id: 193, status: 'resolved' }),
    'pending + greeting enabled, incoming first': importInto({ id: 195, status: 'pending', greeting: true }),
    'pending + greeting enabled, outgoing first': importInto({
      id: 197,
      status: 'pending',
      greeting: true,
      order: outgoingFirst,
    }),
    'pending again': importInto({ id: 199, status: 'pending' }),
    'messages of it afterwards': async (bench) => {
      const { body } = await bench.admin.get(`${bench.chat(199)}/messages`)
      const messages = asList(body['payload']).map((one) => {
        const { id, message_type, content, created_at } = asObject(one)
        return { id, message_type, content, created_at }
      })
      return { messages }
    },
    'pending, assigned agent: does an assignee get notified?': importInto({
      id: 201,
      status: 'pending',
      assigned: true,
    }),
  },
}

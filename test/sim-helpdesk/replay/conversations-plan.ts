// The state behind the recordings of conversations.

import { conversationFacts } from './conversation-facts.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'

const chat = { inbox: 14, contact: 80, source: '5521992526840' }
const locked = { inbox: 15, contact: 84, source: '5521992526842' }

async function say(bench: ReplayBench, to: number, content: string, extra: object = {}): Promise<void> {
  await bench.message(undefined, to, { content, ...extra })
}

async function resolve(bench: ReplayBench, recorded: number): Promise<void> {
  await bench.must(bench.admin.post(`${bench.chat(recorded)}/toggle_status`, { status: 'resolved' }))
}

async function reply(bench: ReplayBench, recorded: number, to: number, content: string): Promise<void> {
  const { body } = await bench.must(bench.agent.post(`${bench.chat(to)}/messages`, { content }))
  bench.ids.bind('message', recorded, body.id)
}

export const conversationsPlan: Plan = {
  before: {
    create: async (bench) => {
      await bench.inbox(14, 'contract-conv')
      await bench.inbox(15, 'contract-lock', { lock_to_single_conversation: true })
      await bench.join(14)
      await bench.person(80, 'Maria 95145da521', '5521992526840', 14)
    },
    'create with a source_id of another contact': (bench) => bench.person(83, 'Other', '5521992526841', 14),
    'lock: first create: callbacks': async (bench) => {
      await bench.person(84, 'Locked', '5521992526842', 15)
      await bench.conversation(74, locked, { additional_attributes: { a: 1 } })
    },
    'lock: resolve: callbacks': (bench) => resolve(bench, 74),
    'toggle without status (open → resolved)': async (bench) => {
      // An agent who is online gets the waiting conversations, except those of contact 83, which came too late.
      await bench.must(bench.admin.post(`${bench.chat(73)}/toggle_status`, { status: 'pending' }))
      bench.helpdesk.world.setOnline(bench.ids.actual('user', 2), true)
    },
    'toggle without status (resolved → open)': (bench) => {
      bench.helpdesk.world.setOnline(bench.ids.actual('user', 2), false)
      return Promise.resolve()
    },
    'outgoing on resolved': (bench) => resolve(bench, 62),
    'incoming on pending: callbacks': async (bench) => {
      await bench.must(bench.admin.post(`${bench.chat(62)}/toggle_status`, { status: 'pending' }))
      await bench.helpdesk.settled()
      bench.catcher.caught.clear()
      await bench.message(1103, 62, { content: 'to pending', message_type: 'incoming' })
    },
    'private note on resolved': (bench) => resolve(bench, 62),
    'toggle to open with agent token': (bench) => resolve(bench, 62),
    'before update_last_seen': async (bench) => {
      await bench.conversation(79, chat)
      await say(bench, 79, 'one', { message_type: 'incoming' })
      await say(bench, 79, 'two', { message_type: 'incoming' })
    },
    'agent reply: outgoing': (bench) => {
      bench.helpdesk.world.setOnline(bench.ids.actual('user', 2), true)
      return Promise.resolve()
    },
    'agent reply (second, nothing waiting): callbacks': (bench) => reply(bench, 1114, 79, 'reply 2'),
    'incoming after reply: callbacks': async (bench) => {
      await bench.message(1115, 79, { content: 'q', message_type: 'incoming' })
    },
    'agent reply (third, was waiting): callbacks': (bench) => reply(bench, 1117, 79, 'reply 3'),
    'outgoing posted by the bridge (external_echo) when waiting: callbacks': async (bench) => {
      await say(bench, 79, 'waiting', { message_type: 'incoming' })
      await bench.helpdesk.settled()
      bench.catcher.caught.clear()
      const values = { content: 'bridge outgoing with source_id', source_id: 'OWN1' }
      await bench.message(1119, 79, { ...values, content_attributes: { external_echo: true } })
    },
  },
  facts: conversationFacts,
}

// The state behind the recordings of messages.

import { fileFacts, fileRequests } from './file-plan.ts'
import { messageFacts } from './message-facts.ts'
import type { ReplayBench } from './replay-bench.ts'
import type { Plan } from './replay.ts'

const source = '5521996606118'
const chat = { inbox: 17, contact: 88, source }

async function say(bench: ReplayBench, recorded: number, to: number, values: object): Promise<void> {
  await bench.message(recorded, to, values)
}

/** Posts in parallel until the flood limit of the conversation is reached. */
async function flood(bench: ReplayBench): Promise<void> {
  await bench.conversation(85, chat)
  await say(bench, 1251, 85, { content: 'f0', message_type: 'incoming' })
  await say(bench, 1252, 85, { content: 'f1' })
  for (let at = 2; at < 200; at++) await bench.message(undefined, 85, { content: `f${at}`, message_type: 'incoming' })
}

export const messagesPlan: Plan = {
  before: {
    'incoming text': async (bench) => {
      await bench.inbox(17, 'contract-msg')
      await bench.person(88, 'Maria da8f42f592', source, 17)
      await bench.conversation(81, chat)
    },
    'in_reply_to in another conversation': (bench) => bench.conversation(82, chat),
    'sender_type AgentBot': async (bench) => {
      bench.ids.bind('bot', 4, bench.helpdesk.world.addBot('contract-bot2').id)
      return Promise.resolve()
    },
    'multipart jpg (answer)': (bench) => bench.conversation(83, chat),
    'PATCH status matrix (external_error "E2" sent along)': (bench) => bench.conversation(84, chat),
    'PATCH content/source_id/created_at': async (bench) => {
      await say(bench, 1220, 84, { content: 'sent read', source_id: 'Psentread' })
      const attributes = { in_reply_to_external_id: 'Psentread', mine: 1 }
      await say(bench, 1242, 84, { content: 'orig', source_id: 'PX', content_attributes: attributes })
    },
    'PATCH an incoming message to read': (bench) => say(bench, 1243, 84, { content: 'inc', message_type: 'incoming' }),
    'PATCH an activity message': (bench) => say(bench, 1244, 84, { content: 'act', message_type: 'activity' }),
    'DELETE message': (bench) => say(bench, 1245, 84, { content: 'delete me', source_id: 'DEL1' }),
    // A newer message stands between, so the callback does not show the deleted one.
    'PATCH a deleted message': async (bench) => {
      await bench.message(undefined, 84, { content: 'newer' })
    },
    'flood limit: message number 201 within a minute': flood,
  },
  requests: fileRequests,
  facts: { ...messageFacts, ...fileFacts },
}

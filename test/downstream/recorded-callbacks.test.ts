// Every callback body that was recorded from a real Chatwoot, and the command that it becomes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutgoingCommand } from '../../src/core/helpdesk/callback.ts'
import { readCallback } from '../../src/downstream/callback.ts'
import { bodyOf, readRecordings } from '../sim-helpdesk/harness/recordings.ts'
import type { Fields, RecordingName } from '../sim-helpdesk/harness/recordings.ts'

type Row = [what: string, wanted: Fields, missing?: Fields]

const ignored = (reason: string) => ({ kind: 'ignored', reason })
const conversation = (inboxId: number | null, conversationId: number | null, accountId: number | null = 1) => ({
  accountId,
  inboxId,
  conversationId,
})
const recipient = (digits: string) => ({
  identifier: `${digits}@s.whatsapp.net`,
  phone: `+${digits}`,
  sourceId: digits,
})
const noRecipient = { identifier: null, phone: null, sourceId: null }
const quoted = '**Hello**\nline 2\n\npara `x` [t](https://x.example)'
const surveyLink = 'https://chatwoot.example/survey/responses/<uuid>'
// The text of a survey is in the newest message of its conversation. The recorder left that out in interactive.json.
const survey = `Please rate the conversation\n${surveyLink}`
const surveySentence = `Please rate this conversation, ${surveyLink}`
const send = (messageId: number, content: string, agentName: string | null, more: Fields = {}) => ({
  kind: 'send',
  messageId,
  content,
  agentName,
  isByPerson: agentName !== null,
  attachments: [],
  inReplyTo: null,
  ...more,
})
const changed = (messageId: number, content: string, agentName: string, more: Fields = {}) => ({
  ...send(messageId, content, agentName),
  kind: 'changed',
  deleted: false,
  externalError: null,
  ...more,
})

const inConversation190 = { conversation: conversation(26, 190), recipient: recipient('5521992703885') }
const inReplyTo = { messageId: 2529, sourceId: '3EB0INC' }
const ofInteractive = (kind: string, messageId: number, content = `Please (${kind})`, more: Fields = {}): Row => [
  `callback of ${kind}`,
  send(messageId, content, 'Ada Admin', { conversation: conversation(17, null), recipient: noRecipient, ...more }),
]

/** The recorder shortened some bodies. `missing` restores a field without which the body has another meaning. */
const tables: Record<RecordingName, Row[]> = {
  callbacks: [
    ['conversation_created', ignored('unused_event')],
    ['message_created, incoming', ignored('not_outgoing')],
    [
      'message_created, outgoing by an agent with a quote',
      send(2533, quoted, 'Alan Agent', { ...inConversation190, inReplyTo }),
    ],
    // The agent never opened this conversation: agent_last_seen_at is 0. Only its status counts.
    ['conversation_updated after an agent reply', { kind: 'status', ...inConversation190, isResolved: false }],
    [
      'message_updated (status delivered)',
      changed(2533, quoted, 'Alan Agent', { ...inConversation190, inReplyTo, writtenAt: 1794764978839 }),
    ],
    ['conversation_status_changed', { kind: 'status', ...inConversation190, isResolved: true }],
    ['conversation_typing_on', { kind: 'typing', typing: true, ...inConversation190 }],
    [
      'conversation_typing_off',
      { kind: 'typing', typing: false, conversation: conversation(null, 190, null), recipient: noRecipient },
    ],
    ['message_created, private note', ignored('private')],
    [
      'message_created of a greeting, in full',
      send(2638, 'Welcome Maria 39e97ac0b7!', null, {
        conversation: conversation(26, 203),
        recipient: recipient('5521992703888'),
      }),
    ],
    [
      'message_created of the out-of-office message',
      send(2965, 'We are closed', null, { conversation: conversation(26, 211) }),
    ],
    [
      'message_created of a CSAT survey, in full',
      send(3180, survey, null, { conversation: conversation(26, 203), recipient: recipient('5521992703888') }),
    ],
    // An automation rule has no sender. Its message is sent like every other.
    [
      'message_created by an automation rule, in full',
      send(3388, 'Automated Maria 650bfb8193', null, {
        conversation: conversation(26, 218),
        recipient: recipient('5521992703899'),
      }),
    ],
    [
      'message_created by a macro, in full',
      send(3393, 'From macro Maria 650bfb8193', 'Alan Agent', { conversation: conversation(26, 218) }),
    ],
    ['contact_created (account webhook only)', ignored('unused_event')],
    ['contact_updated (account webhook only)', ignored('unused_event')],
    ['callback to the agent bot, headers', ignored('not_outgoing')],
    [
      'message_created by an agent bot',
      send(3398, 'bot says\n\n1. A', 'contract-bot3', {
        conversation: conversation(26, 221),
        choices: ['A'],
        isByPerson: false,
      }),
    ],
  ],
  'callback-failures': [
    [
      'message_updated that follows a failed callback, in full',
      changed(1559, 'created fails, updated ok', 'Ada Admin', {
        conversation: conversation(19, 119),
        recipient: recipient('5521995454204'),
        externalError: '500 Internal Server Error',
        writtenAt: 1794764420262,
      }),
    ],
  ],
  retry: [
    [
      'callback after retry: message_updated',
      changed(1247, 'will fail', 'Ada Admin', {
        conversation: conversation(17, 84),
        inReplyTo: { messageId: 1242, sourceId: 'PX' },
      }),
    ],
    [
      'callback after retry: message_updated',
      changed(1247, 'will fail', 'Ada Admin', {
        conversation: conversation(17, 84),
        recipient: recipient('5521996606118'),
      }),
    ],
  ],
  contacts: [
    // After a merge the contact is another person; the conversation's address is still that of the customer.
    [
      "merge: message_created of an agent reply in the mergee's conversation",
      send(1027, '', null, {
        recipient: {
          identifier: '5521997480723@s.whatsapp.net',
          phone: '+5521997480723',
          sourceId: '5521997480724',
        },
      }),
      { message_type: 'outgoing' },
    ],
  ],
  conversations: [
    [
      'agent reply: conversation_updated in full',
      { kind: 'seen', conversation: conversation(14, 79), recipient: recipient('5521992526840'), at: 1794763808000 },
    ],
    [
      'typing on by an agent, in full',
      { kind: 'typing', typing: true, conversation: conversation(14, 79), recipient: recipient('5521992526840') },
    ],
  ],
  interactive: [
    ofInteractive('input_select', 1449, 'Please (input_select)\n\n1. Yes\n2. No', { choices: ['Yes', 'No'] }),
    ofInteractive(
      'cards',
      1450,
      'Please (cards)\n\n**Card 1**\ndesc\nhttps://img.example/x.jpg\nView: https://x.example\n1. Buy',
      { choices: ['Buy'] },
    ),
    ofInteractive('form', 1451, 'Please (form)\n\nE-mail (Mail)\nPick:\n1. A', { choices: ['A'] }),
    ofInteractive('article', 1452, 'Please (article)\n\n**Doc**\nd\nhttps://docs.example/1'),
    ofInteractive('input_csat', 1453, surveySentence),
    ofInteractive('input_email', 1454, 'Please (input_email)\n\nPlease reply with your e-mail address.'),
    ofInteractive('input_text', 1455),
    ofInteractive('input_textarea', 1456),
    ofInteractive('incoming_email', 1457),
    ofInteractive('integrations', 1458),
    ofInteractive('voice_call', 1459),
  ],
  messages: [
    ['message_created of an incoming message, in full', ignored('not_outgoing')],
    // The recorder named this one wrongly: it is an incoming message too.
    ['message_created of an outgoing message, in full', ignored('not_outgoing')],
    ['message_created with a bot as sender', ignored('echo')],
    ['message_created with an attachment, in full', ignored('not_outgoing')],
    ['message_updated after failed, in full', ignored('echo')],
    // The message has a source id, as those that the service posts. Its deletion counts: it may be a direct message.
    ['message_updated after delete, in full', { kind: 'changed', sourceId: 'DEL1', deleted: true }],
  ],
  'public-api': [['conversation_typing_on by a contact, in full', ignored('unused_event')]],
}

for (const [name, rows] of Object.entries(tables) as [RecordingName, Row[]][]) {
  test(`every recorded callback in ${name}.json becomes its command`, () => {
    const recorded = readRecordings(name).flatMap((each) => {
      const body = bodyOf(each)
      return body ? [{ what: each.what, body }] : []
    })
    assert.deepEqual(
      recorded.map(({ what }) => what),
      rows.map(([what]) => what),
    )
    for (const [at, { what, body }] of recorded.entries()) {
      const [, wanted, missing] = rows[at] ?? ['', {}]
      const command: OutgoingCommand = readCallback({ ...body, ...missing })
      assert.partialDeepStrictEqual(command, wanted, what)
    }
  })
}

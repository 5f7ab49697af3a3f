// The helpdesk's callbacks in the shape Chatwoot sends them: per instance one after the other, each when the one before is answered.

import { Agent, request } from 'undici'
import { instanceName } from './flow.ts'

export type Writing = {
  chats: readonly string[]
  /** Of the service, for each chat; its messages take them in turn. */
  urls: readonly (readonly string[])[]
  each: number
  accountId: number
  inboxId: number
}

const agent = new Agent({ connections: 64 })
let messageId = 1000

/** How long each took until its answer, in milliseconds. */
export async function writeAll({ chats, urls, each, ...place }: Writing): Promise<number[]> {
  const perInstance = chats.map(async (chat, index) => {
    const path = `/api/instances/${instanceName(index)}/webhook`
    const own = urls[index] ?? []
    const times: number[] = []
    for (let n = 0; n < each; n++) {
      const body = callbackBody(chat, `message ${n}`, place)
      const started = performance.now()
      await postCallback(`${own[(index + n) % own.length]}${path}`, body)
      times.push(performance.now() - started)
    }
    return times
  })
  return (await Promise.all(perInstance)).flat()
}

/** Fails unless the service takes the message. */
export async function postCallback(webhook: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await request(webhook, { method: 'POST', headers, body, dispatcher: agent })
  const text = await answer.body.text()
  const { status, reason } = JSON.parse(text) as { status?: string; reason?: string }
  // Queued is what is on its way when the answer is due; its arrival is waited for. So is that of a duplicate: a node gave up its
  // wait for the owner, which had stored the message.
  const isTaken = status === 'sent' || status === 'queued' || reason === 'duplicate'
  if (!isTaken) throw new Error(`the service answered ${answer.statusCode}: ${text}`)
}

type Place = Pick<Writing, 'accountId' | 'inboxId'>

/**
 * The body of a callback of Chatwoot for a message of an agent. Each message has a conversation of its own: agents do not write
 * every few milliseconds. If two messages of a conversation came within two seconds, the service would ask for their order.
 */
export function callbackBody(chat: string, content: string, place: Place): string {
  return JSON.stringify(callback(chat, content, place))
}

function callback(chat: string, content: string, { accountId, inboxId }: Place): object {
  const id = (messageId += 1)
  const conversationId = id
  const at = Math.floor(Date.now() / 1000)
  const user = { id: 1, name: 'Ana', email: 'ana@example.com', type: 'user' }
  const contact = {
    id: conversationId,
    name: 'Maria',
    identifier: chat,
    email: null,
    phone_number: null,
    thumbnail: '',
  }
  const message = { content, message_type: 1, content_type: 'text', status: 'sent', created_at: at, private: false }
  return {
    account: { id: accountId, name: 'Desk' },
    additional_attributes: {},
    content_attributes: {},
    content_type: 'text',
    content,
    conversation: {
      additional_attributes: {},
      can_reply: true,
      channel: 'Channel::Api',
      contact_inbox: { id: conversationId, contact_id: conversationId, inbox_id: inboxId, source_id: chat },
      id: conversationId,
      inbox_id: inboxId,
      messages: [{ id, account_id: accountId, inbox_id: inboxId, conversation_id: conversationId, ...message }],
      labels: [],
      meta: { sender: { ...contact, type: 'contact' }, assignee: user, assignee_type: 'User', team: null },
      status: 'open',
      custom_attributes: {},
      unread_count: 0,
      agent_last_seen_at: at,
      last_activity_at: at,
      created_at: at,
    },
    created_at: new Date(at * 1000).toISOString(),
    id,
    inbox: { id: inboxId, name: 'WhatsApp' },
    message_type: 'outgoing',
    private: false,
    sender: user,
    source_id: null,
    event: 'message_created',
  }
}

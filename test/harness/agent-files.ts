// Files that an agent attaches to a message at the simulated helpdesk.

import assert from 'node:assert/strict'
import { kindOfMessage, textOfMessage, unwrap } from '../../sim/network/people/received-message.ts'
import type { ReceivedMessage } from '../../sim/network/people/received-message.ts'
import type { AgentWorld } from './agent-world.ts'

export type AgentFile = { name: string; bytes: Uint8Array; type: string }

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

export function textFile(name: string, text = name): AgentFile {
  return { name, bytes: Buffer.from(text), type: 'text/plain' }
}

/** Posts a message with files in Bob's conversation; the id of the message. */
export async function attach(
  world: AgentWorld,
  content: string,
  files: readonly AgentFile[],
  more: Record<string, unknown> = {},
): Promise<number> {
  const form = new FormData()
  form.set('content', content)
  form.set('message_type', 'outgoing')
  for (const [key, value] of Object.entries(more)) form.set(key, JSON.stringify(value))
  for (const { name, bytes, type } of files) {
    form.append('attachments[]', new Blob([new Uint8Array(bytes)], { type }), name)
  }
  const { body, status, text } = await world.agent.send('POST', `/conversations/${world.conversation}/messages`, form)
  assert.equal(status, 200, text)
  return body.id
}

export function kindsOf(messages: readonly ReceivedMessage[]): string[] {
  return messages.map(({ message }) => kindOfMessage(message))
}

/** What a person sees of each message: the name of a file, with its caption, or the text. */
export function shownTo(person: AgentWorld['bob']): string[] {
  return person.messages.entries
    .filter(({ own }) => !own)
    .map(({ message }) => {
      const { documentMessage: document } = unwrap(message)
      const caption = document?.caption ? `: ${document.caption}` : ''
      return document ? `${document.fileName ?? ''}${caption}` : (textOfMessage(message) ?? kindOfMessage(message))
    })
}

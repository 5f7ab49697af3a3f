// A message as the body of Chatwoot's request: JSON, or a form when it carries files.

import { DownstreamError } from '../core/downstream.ts'
import type { NewMessage } from '../core/downstream.ts'
import { multipart } from './multipart.ts'
import type { MultipartBody } from './multipart.ts'

const maxCharacters = 150_000
const maxFiles = 15

export function encodeMessage(message: NewMessage): { json: object } | { multipart: MultipartBody } {
  const { files, content } = message
  if (isTooLong(content)) {
    throw new DownstreamError('permanent', `the text is longer than the ${maxCharacters} characters Chatwoot takes`)
  }
  if (files.length === 0) return { json: fieldsOf(message) }
  if (files.length > maxFiles) {
    throw new DownstreamError('permanent', `Chatwoot takes at most ${maxFiles} files in a message`)
  }
  const entries = Object.entries(fieldsOf(message)).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return { multipart: multipart(Object.fromEntries(entries) as Record<string, string>, 'attachments[]', files) }
}

function fieldsOf({ type, content, sourceId, inReplyTo, isEcho, private: isPrivate }: NewMessage) {
  const attributes = {
    ...(inReplyTo !== null && { in_reply_to: inReplyTo }),
    ...(isEcho && { external_echo: true }),
  }
  return {
    message_type: type,
    ...(content !== '' && { content: type === 'outgoing' ? withoutLiquid(content) : content }),
    ...(sourceId !== null && { source_id: sourceId }),
    ...(isPrivate && { private: true }),
    ...((inReplyTo !== null || isEcho) && { content_attributes: attributes }),
  }
}

/** Chatwoot runs what is outgoing through its template language; a zero-width space keeps the text as it was written. */
function withoutLiquid(content: string): string {
  return content.replace(/\{(?=[{%])/g, '{\u200b')
}

/** Chatwoot counts characters, not UTF-16 units. */
function isTooLong(content: string): boolean {
  return content.length > maxCharacters && Array.from(content).length > maxCharacters
}

// Writes a message as the body of a request to Chatwoot: JSON, or a form when the message has files.

import { DownstreamError } from '../core/downstream.ts'
import type { NewMessage, UploadFile } from '../core/helpdesk/message.ts'
import { multipart } from '../lib/egress/multipart.ts'
import type { FilePart, MultipartBody } from '../lib/egress/multipart.ts'
import { isTooLong, maxCharacters, maxFiles } from './limits.ts'
import { breakUpLiquid } from './liquid.ts'

export function encodeMessage(written: NewMessage): { json: object } | { multipart: MultipartBody } {
  const message = written.type === 'outgoing' ? { ...written, content: breakUpLiquid(written.content) } : written
  const { files } = message
  if (isTooLong(message.content)) {
    throw new DownstreamError('permanent', `the text is longer than the ${maxCharacters} characters Chatwoot takes`)
  }
  if (files.length === 0) return { json: fieldsOf(message) }
  if (files.length > maxFiles) {
    throw new DownstreamError('permanent', `Chatwoot takes at most ${maxFiles} files in a message`)
  }
  return { multipart: formOf(message) }
}

function formOf(message: NewMessage): MultipartBody {
  const over = new AbortController()
  const fields = Object.entries(fieldsOf(message)).map(([name, value]) => ({
    name,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }))
  const form = multipart([...fields, ...message.files.map((file) => filePart(file, over.signal))])
  form.body.once('close', () => {
    over.abort()
  })
  return form
}

/** Opens the file when the form reaches it. Ends a file that hangs when the request is over. */
function filePart({ open, fileName, mimeType, size }: UploadFile, over: AbortSignal): FilePart {
  async function* content() {
    const source = await open()
    const end = () => source.destroy()
    if (over.aborted) end()
    else over.addEventListener('abort', end)
    yield* source as AsyncIterable<Uint8Array>
  }
  const bytes = size === null ? {} : { bytes: size }
  return { name: 'attachments[]', filename: fileName, type: mimeType, content: content(), ...bytes }
}

function fieldsOf({
  type,
  content,
  sourceId,
  inReplyTo,
  isEcho,
  originalText,
  private: isPrivate,
  sentAt,
}: NewMessage) {
  const attributes = {
    ...(inReplyTo !== null && { in_reply_to: inReplyTo }),
    ...(isEcho && { external_echo: true }),
    // Chatwoot keeps attributes that it does not know.
    ...(originalText !== undefined && { original_text: originalText }),
    ...(sentAt !== undefined && { external_created_at: Math.floor(sentAt / 1000) }),
  }
  return {
    message_type: type,
    ...(content !== '' && { content }),
    ...(sourceId !== null && { source_id: sourceId }),
    ...(isPrivate && { private: true }),
    ...(Object.keys(attributes).length > 0 && { content_attributes: attributes }),
  }
}

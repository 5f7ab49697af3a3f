// The text of a message in a webhook: surveys show their link, and hard breaks lose their backslash.

import type { Static } from 'typebox'
import type { PushMessage } from '../schemas/message-schemas.ts'
import type { MessageRow } from '../state/rows.ts'
import type { Features } from '../versions.ts'
import type { JsonSource } from './conversation-json.ts'

/** The content of a survey's webhook is a fixed sentence with the link. The text of the survey stays in the conversation's messages. */
export function hookContent(
  { desk, files }: JsonSource,
  { content, contentType, conversation }: MessageRow,
): string | null {
  if (contentType === 'input_csat' && desk.features.surveyLink) {
    return `Please rate this conversation, ${files.frontendUrl}/survey/responses/${conversation.uuid}`
  }
  return desk.features.plainHardBreaks ? withoutHardBreaks(content) : content
}

/** The newest message of the conversation loses its backslashes too. */
export function withPlainBreaks(features: Features, message: Static<typeof PushMessage>): Static<typeof PushMessage> {
  if (!features.plainHardBreaks) return message
  const content = withoutHardBreaks(message.content)
  return { ...message, content, processed_message_content: content }
}

/** The editor writes a hard break as a backslash before the newline. */
function withoutHardBreaks(content: string | null): string | null {
  return content?.replaceAll('\\\n', '\n') ?? null
}

// What tests send, without the parts that most of them do not care about.

import type { OutgoingContent } from '../../../src/core/network/outgoing-content.ts'

export function plain(text: string): OutgoingContent {
  return { type: 'text', text, mentions: [], quote: null }
}

// Says what is stored of a posted message for later quotes, votes and edits.

import type { Content, MessageEvent } from '../../../core/message.ts'
import { quoteTextOf } from '../../../core/quote-text.ts'
import type { MappedContent } from '../../../storage/stores/messages/message-map-store.ts'

const rememberedText = 1000

export function rememberedOf({ content, secret, sender }: MessageEvent): MappedContent {
  const text = quoteTextOf(content)
  return {
    ...(text !== null && { text: text.slice(0, rememberedText) }),
    ...(secret !== null && { secret, sender }),
    ...(content.type === 'poll' && { pollOptions: content.options }),
  }
}

export function rememberedOfEdit(content: Content): MappedContent {
  return { text: quoteTextOf(content)?.slice(0, rememberedText) ?? '' }
}

// Says what a reply shows of the message that it quotes.

import type { Content } from './message.ts'

/** Null when the content has no words, e.g. a picture without a caption. */
export function quoteTextOf(content: Content): string | null {
  switch (content.type) {
    case 'text':
    case 'choice':
    case 'unsupported':
      return content.text
    case 'media':
      return content.caption ?? content.fileName
    case 'location':
      return content.caption ?? content.name ?? content.address ?? `${content.latitude}, ${content.longitude}`
    case 'contacts':
      return content.cards.map(({ name }) => name).join(', ')
    case 'poll':
      return content.question
    case 'album':
    case 'view_once':
    case 'mark':
      return null
  }
}

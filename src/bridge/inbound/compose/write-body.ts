// Writes what a message says, without its header and its quote: the words or the caption, then the ad.

import type { Ad, Content } from '../../../core/message.ts'
import type { KnownPerson } from '../../people/names.ts'
import { firstCharacters, noticeLength, renderAd, renderContent, renderText } from './render.ts'
import { textsOf } from './texts.ts'
import type { Locale } from './texts.ts'

/** Plain data, because a thread of its own writes the body of a long message. */
export type Body = {
  content: Content
  ad: Ad | null
  mentioned: readonly KnownPerson[]
  mentionTemplate: string
  locale: Locale
  /** As many characters fit in any case. */
  safeLength: number
}

export function writeBody({ content, ad, mentioned, mentionTemplate, locale, safeLength }: Body): string {
  const texts = textsOf[locale]
  const written = (text: string) => {
    // Twice as many can never fit, so there is no use in converting them.
    if (text.length <= 2 * safeLength) return renderText(text, mentioned, mentionTemplate)
    const beginning = firstCharacters(text, safeLength - noticeLength)
    return `${renderText(beginning, mentioned, mentionTemplate)}\n\n${texts.truncated}`
  }
  const body = renderContent(content, { texts, written })
  return [body, ad === null ? '' : renderAd(ad, texts)].filter((part) => part !== '').join('\n\n')
}

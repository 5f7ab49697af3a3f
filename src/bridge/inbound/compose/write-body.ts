// Writes what a message says, without its header and its quote: the words or the caption, then the ad.

import type { Ad, Content } from '../../../core/message.ts'
import type { KnownPerson } from '../../people/names.ts'
import { boundTexts } from './bound-texts.ts'
import { firstCharacters, noticeLength, renderAd, renderContent, renderText } from './render.ts'
import { textsOf } from './texts.ts'
import type { Locale } from './texts.ts'

const nameLength = 1000

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

export function writeBody(body: Body): string {
  const { content, ad, mentioned, mentionTemplate, locale, safeLength } = bounded(body)
  const texts = textsOf[locale]
  const written = (text: string) => {
    // Twice as many can never fit, so there is no use in converting them.
    if (text.length <= 2 * safeLength) return renderText(text, mentioned, mentionTemplate)
    const beginning = firstCharacters(text, safeLength - noticeLength)
    return `${renderText(beginning, mentioned, mentionTemplate)}\n\n${texts.truncated}`
  }
  const said = renderContent(content, { texts, written })
  return [said, ad === null ? '' : renderAd(ad, texts)].filter((part) => part !== '').join('\n\n')
}

/** More than this can never fit. A text that is longer than twice the safe length stays so, because a notice says that it is cut. */
function bounded({ content, ad, mentioned, ...rest }: Body): Body {
  const bounds = { each: 2 * rest.safeLength + 1, all: 4 * rest.safeLength }
  return {
    ...rest,
    content: { ...boundTexts(content, bounds), type: content.type } as Content,
    ad: boundTexts(ad, bounds),
    mentioned: mentioned.map((person) => boundTexts(person, { each: nameLength, all: 4 * nameLength })),
  }
}

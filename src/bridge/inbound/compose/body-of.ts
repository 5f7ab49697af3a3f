// Writes the body of a message; a long one in a thread of its own.

import { TextConverter } from '../../../lib/text/text-converter.ts'
import { isPlainText } from './plain-text.ts'
import { writeBody } from './write-body.ts'
import type { Body } from './write-body.ts'

const converter = new TextConverter<Body>({
  convert: writeBody,
  thread: new URL('./body-thread.ts', import.meta.url),
})

export async function bodyOf(body: Body): Promise<string> {
  const { content, ad } = body
  // Most messages are, and then all conversions leave the text as it is.
  if (ad === null && content.type === 'text' && isPlainText(content.text)) return content.text
  return converter.convert(body, textLength([content, ad]))
}

/** The characters of all texts in the value. */
function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  let length = 0
  for (const each of Object.values(value)) length += textLength(each)
  return length
}

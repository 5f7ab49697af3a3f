// Writes the body of a message; a long one in a thread of its own.

import { TextConverter } from '../../../lib/text/text-converter.ts'
import { writeBody } from './write-body.ts'
import type { Body } from './write-body.ts'

const converter = new TextConverter<Body>({
  convert: writeBody,
  thread: new URL('./body-thread.ts', import.meta.url),
})

export function bodyOf(body: Body): Promise<string> {
  return converter.convert(body, textLength([body.content, body.ad]))
}

/** The characters of all texts in the value. */
function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  let length = 0
  for (const each of Object.values(value)) length += textLength(each)
  return length
}

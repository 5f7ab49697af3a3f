// Converts the Markdown of an agent into a text for WhatsApp; a long one in a thread of its own.

import { TextConverter } from '../../../lib/text/text-converter.ts'
import { markdownToText } from './markdown-to-text.ts'

const converter = new TextConverter<string>({
  convert: markdownToText,
  thread: new URL('./text-thread.ts', import.meta.url),
})

export function textOfMarkdown(markdown: string): Promise<string> {
  return converter.convert(markdown, markdown.length)
}

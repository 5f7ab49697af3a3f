// Turns a text of WhatsApp into Markdown that the helpdesk shows as WhatsApp shows the text. WhatsApp's own formatting is
// translated; any other character that the helpdesk would swallow or restyle gets a backslash.

import { plainRowOf, rowsOf } from './markdown/rows.ts'
import type { Row } from './markdown/rows.ts'
import type { MentionOf } from './markdown/spans.ts'
import { writeParagraph } from './markdown/write-paragraph.ts'
import type { Manner } from './markdown/write-paragraph.ts'

const noMention: MentionOf = () => undefined

/** What a person wrote. */
export function textToMarkdown(text: string, mentionOf: MentionOf = noMention): string {
  return write(rowsOf(text.replace(/\r\n?/g, '\n')), { isPlain: false, mentionOf })
}

/** A name, a title or an option: text without formatting. The result is safe beside any other text. */
export function plainToMarkdown(text: string): string {
  return write(text.split(/\r\n?|\n/).map(plainRowOf), { isPlain: true, mentionOf: noMention })
}

function write(rows: readonly Row[], manner: Manner): string {
  const lines: string[] = []
  let before: Row['kind'] = 'blank'
  let list = false
  for (let index = 0; index < rows.length;) {
    const row = rows[index]
    if (!row) break
    const end = endOfParagraph(rows, index)
    // Without the blank line, Markdown would take the text into the quote or the item before it.
    if (row.kind === 'plain' && (before === 'quote' || before === 'item')) lines.push('')
    if (row.kind === 'blank') lines.push(row.text)
    else if (row.kind === 'code') lines.push(...fenced(row.text))
    else for (const line of writeParagraph(rows.slice(index, end), manner, list)) lines.push(line)
    before = row.kind
    if (row.kind !== 'blank') list = row.kind === 'item'
    index = end
  }
  return lines.join('\n')
}

/** Plain lines in a row, and quoted lines in a row, are one paragraph. */
function endOfParagraph(rows: readonly Row[], from: number): number {
  const kind = rows[from]?.kind
  let end = from + 1
  if (kind === 'plain' || kind === 'quote') while (rows[end]?.kind === kind) end++
  return end
}

/** The fence is longer than any run of backticks in the code, which could end it. */
function fenced(code: string): string[] {
  let longest = 2
  for (const { 0: run } of code.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(longest + 1)
  return [fence, code, fence]
}

// Gives headings their anchors, and cuts a document into sections for the search and for the contents of the page.

import type MarkdownIt from 'markdown-it'
import { GithubSlugs } from './github-slug.ts'

/** The text from one heading to the next. */
export type Section = { level: number; heading: string; anchor: string; text: string }

type Token = ReturnType<MarkdownIt['parse']>[number]

export function anchorHeadings(tokens: readonly Token[]): Section[] {
  const slugs = new GithubSlugs()
  const sections: Section[] = []
  for (const [index, token] of tokens.entries()) {
    const content = tokens[index + 1]
    if (token.type === 'heading_open' && content) {
      const heading = plainText(content)
      const anchor = slugs.next(heading)
      token.attrSet('id', anchor)
      sections.push({ level: Number(token.tag.slice(1)), heading, anchor, text: '' })
    } else if (token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open') {
      addText(sections, plainText(token))
    } else if (token.type === 'fence') {
      addText(sections, token.content)
    }
  }
  return sections
}

function addText(sections: readonly Section[], text: string): void {
  const section = sections.at(-1)
  if (section) section.text += `${text.replace(/\s+/g, ' ').trim()} `
}

/** The words of a heading or paragraph without marks. The text of a picture counts. */
function plainText(inline: Token): string {
  const words = (inline.children ?? []).map((child) => {
    if (child.type === 'softbreak' || child.type === 'hardbreak') return ' '
    return child.type === 'html_inline' ? '' : child.content
  })
  return words.join('')
}

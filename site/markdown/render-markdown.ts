// Prepares the Markdown library: anchors as on GitHub, links of the site, tables and code that scroll.

import type MarkdownIt from 'markdown-it'
import type { Page } from '../pages.ts'
import { anchorHeadings } from './sections.ts'
import type { Section } from './sections.ts'
import type { SiteLinks } from './site-links.ts'

type Deps = {
  links: SiteLinks
  pageOf: (environment: unknown) => Page
  keepSections: (page: Page, sections: Section[]) => void
}

const diagramNote = '<p class="soft">A diagram, written in Mermaid. GitHub draws it.</p>\n'

export function prepareMarkdown(markdown: MarkdownIt, deps: Deps): void {
  // Eleventy switches indented code off, because its templates are often indented.
  markdown.enable('code')
  markdown.core.ruler.push('site', ({ tokens, env }) => {
    const page = deps.pageOf(env)
    deps.keepSections(page, anchorHeadings(tokens))
    for (const token of tokens.flatMap((each) => each.children ?? [])) {
      const name = token.type === 'image' ? 'src' : 'href'
      const link = token.attrGet(name)
      if (link !== null) token.attrSet(name, deps.links.resolve(link, page))
    }
  })
  scrollWideParts(markdown)
  linkHeadings(markdown)
}

/** What is wider than the screen scrolls by itself. It takes the focus, so that the keyboard can scroll it. */
function scrollWideParts({ renderer: { rules } }: MarkdownIt): void {
  rules['table_open'] = () => '<div class="scroll" tabindex="0" role="group" aria-label="Table">\n<table>\n'
  rules['table_close'] = () => '</table>\n</div>\n'
  const { fence } = rules
  rules['fence'] = (tokens, index, ...others) => {
    const code = (fence?.(tokens, index, ...others) ?? '').replace('<pre>', '<pre tabindex="0">')
    return tokens[index]?.info === 'mermaid' ? diagramNote + code : code
  }
}

/** The sign is for the pointer: other visitors have the list of sections. */
function linkHeadings({ renderer: { rules } }: MarkdownIt): void {
  rules['heading_close'] = (tokens, index) => {
    const { tag = '' } = tokens[index] ?? {}
    const anchor = tokens[index - 2]?.attrGet('id') ?? ''
    return ` <a class="anchor" href="#${anchor}" aria-hidden="true" tabindex="-1">#</a></${tag}>\n`
  }
}

// What Chatwoot's dashboard shows of a Markdown text: markdown-it with exactly the options of Chatwoot.

import MarkdownIt from 'markdown-it'
import type { Shown, ShownLine, Style } from './shown-lines.ts'
import { plainly } from './shown-lines.ts'

type Token = ReturnType<MarkdownIt['parse']>[number]

const renderer = new MarkdownIt({
  html: false,
  xhtmlOut: true,
  breaks: true,
  langPrefix: 'language-',
  linkify: true,
  typographer: true,
  quotes: '“”‘’',
}).disable(['lheading'])
// The types of the package do not know the option.
renderer.set({ maxNesting: 20 } as object)

const styleOf: Record<string, Style> = { strong: 'bold', em: 'italic', s: 'strike' }

export function renderAtChatwoot(markdown: string): string {
  return renderer.render(markdown)
}

/** The addresses that can be clicked, with their text. */
export function linksAtChatwoot(markdown: string): { href: string; text: string }[] {
  return renderer.parse(markdown, {}).flatMap(({ children }) => {
    const links: { href: string; text: string }[] = []
    let isOpen = false
    for (const token of children ?? []) {
      if (token.type === 'link_open') links.push({ href: token.attrGet('href') ?? '', text: '' })
      if (token.type === 'link_open' || token.type === 'link_close') isOpen = token.type === 'link_open'
      const last = links.at(-1)
      if (isOpen && last) last.text += token.content
    }
    return links
  })
}

export function shownAtChatwoot(markdown: string): ShownLine[] {
  const lines: ShownLine[] = []
  const containers: { kind: 'quote' | 'bullet' | 'number'; next: number }[] = []
  for (const token of renderer.parse(markdown, {})) {
    const container = containers.at(-1)
    switch (token.type) {
      case 'paragraph_open':
      case 'paragraph_close':
      case 'list_item_open':
      case 'list_item_close':
        if (token.type === 'paragraph_open') lines.push({ kind: 'gap', shown: [] })
        break
      case 'blockquote_open':
        containers.push({ kind: 'quote', next: 0 })
        break
      case 'bullet_list_open':
        containers.push({ kind: 'bullet', next: 0 })
        break
      case 'ordered_list_open':
        containers.push({ kind: 'number', next: Number(token.attrGet('start') ?? 1) })
        break
      case 'blockquote_close':
      case 'bullet_list_close':
      case 'ordered_list_close':
        containers.pop()
        break
      case 'fence':
        lines.push({ kind: 'code', shown: plainly(token.content.replace(/\n$/, '')) })
        break
      case 'inline': {
        const number = container?.kind === 'number' ? plainly(`${container.next++}. `) : []
        const kind = container === undefined || container.kind === 'number' ? 'plain' : container.kind
        const [first = [], ...more] = linesOf(token)
        const nested = containers.length > 1 ? ('unexpected nesting' as const) : kind
        lines.push(
          { kind: nested, shown: [...number, ...first] },
          ...more.map((shown) => ({ kind: lazy(container?.kind), shown })),
        )
        break
      }
      default:
        lines.push({ kind: `unexpected ${token.type}`, shown: plainly(token.content || 'nothing') })
    }
  }
  return lines
}

/** A second line in an item would belong to the item. */
function lazy(container: string | undefined): ShownLine['kind'] {
  if (container === undefined) return 'plain'
  return container === 'quote' ? 'quote' : 'unexpected line of an item'
}

function linesOf({ children }: Token): Shown[][] {
  const lines: Shown[][] = [[]]
  const styles: Style[] = []
  for (const { type, tag, content, nesting } of children ?? []) {
    const style = styleOf[tag]
    if (type === 'softbreak' || type === 'hardbreak') lines.push([])
    else if (type === 'text') lines.at(-1)?.push(...plainly(content, [...styles]))
    else if (type === 'code_inline') lines.at(-1)?.push(...plainly(content.trim(), [...styles, 'code']))
    else if (style && nesting === 1) styles.push(style)
    else if (style) styles.pop()
    else if (!type.startsWith('link_')) lines.at(-1)?.push(...plainly(`<${type}>`))
  }
  return lines
}

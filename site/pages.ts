// The pages of the site: which document becomes which file, and in which group of the navigation it stands.

import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import navigation from './navigation.json' with { type: 'json' }

export type Page = {
  /** The document, from the root of the repository. */
  source: string
  /** The file of the site. */
  output: string
  title: string
  text: string
}

/** What the navigation shows of a page. */
type Listed = Pick<Page, 'output' | 'title'>

export type Group = { title: string; pages: Page[]; others: Listed[]; folded: boolean }

/** The page that the service makes of its routes. */
export const reference = { output: 'reference/index.html', title: 'API reference' } as const satisfies Listed

const documents = ['*.md', 'docs/**/*.md', 'src/**/README.md']
const decisions = 'docs/decisions'

/** Documents that no group names come last, in a group of their own, so that the site never lacks a page. */
export function listGroups(): Group[] {
  const named = navigation.map(({ title, pages, folded = false, ...group }) => ({
    title,
    folded,
    others: group.reference ? [reference] : [],
    pages: pages.flatMap(findDocuments).map(readPage),
  }))
  const decided = named.find(({ pages }) => pages.some(({ source }) => posix.dirname(source) === decisions))
  decided?.pages.unshift(listOfDecisions(decided.pages))
  const unlisted = findUnlisted().map(readPage)
  return unlisted.length === 0 ? named : [...named, { title: 'More', pages: unlisted, others: [], folded: false }]
}

/** The documents that no group of `navigation.json` names. */
export function findUnlisted(): string[] {
  const listed = new Set(navigation.flatMap(({ pages }) => pages.flatMap(findDocuments)))
  return documents.flatMap(findDocuments).filter((source) => !listed.has(source))
}

/** A misspelt entry finds nothing; its document is then unlisted, which a test names. */
function findDocuments(pattern: string): string[] {
  return globSync(pattern)
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
}

function readPage(source: string): Page {
  const text = readFileSync(source, 'utf8')
  return { source, output: outputOf(source), title: titleOf(text) ?? source, text }
}

function outputOf(source: string): string {
  return source.replace(/(?:^|(?<=\/))README\.md$/, 'index.md').replace(/\.md$/, '.html')
}

function titleOf(text: string): string | undefined {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '')
}

/** Links to the folder lead to this page. GitHub shows the list of files there. */
function listOfDecisions(pages: readonly Page[]): Page {
  const items = pages.map(({ source, title }) => `- [${title}](${posix.basename(source)})`)
  const text = `# Decisions\n\nWhy Causeway is built this way. Each note has a context, a decision, alternatives and a cost.\n\n${items.join('\n')}\n`
  return { source: `${decisions}/README.md`, output: `${decisions}/index.html`, title: 'All decisions', text }
}

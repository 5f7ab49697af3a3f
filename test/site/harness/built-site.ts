// The site, built into a folder of its own, and what its pages link to.

import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { buildSite } from '../../../site/build-site.ts'
import type { Page } from '../../../site/pages.ts'

/** An address in a page: from `href`, `src` or `action`. */
export type SiteLink = { from: string; link: string }

export class BuiltSite {
  readonly folder: string
  readonly pages: readonly Page[]
  /** All files, with their text. */
  readonly files: ReadonlyMap<string, string>

  private constructor(folder: string, pages: readonly Page[], files: ReadonlyMap<string, string>) {
    this.folder = folder
    this.pages = pages
    this.files = files
  }

  static async build(): Promise<BuiltSite> {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-site-'))
    const pages = await buildSite(folder)
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    const files = await Promise.all(
      paths.map(async (path) => {
        const name = path.slice(folder.length + 1).replaceAll('\\', '/')
        return [name, await readFile(path, 'utf8')] as const
      }),
    )
    return new BuiltSite(folder, pages, new Map(files))
  }

  htmlOf(name: string): string {
    return this.files.get(name) ?? ''
  }

  get links(): SiteLink[] {
    return [...this.files.keys()]
      .filter((name) => name.endsWith('.html'))
      .flatMap((from) => linksIn(from, this.htmlOf(from)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}

export function linksIn(from: string, html: string): SiteLink[] {
  return [...html.matchAll(/ (?:href|src|action)="([^"]*)"/g)].map(([, link = '']) => ({ from, link }))
}

export function isForeign({ link }: SiteLink): boolean {
  return /^(?:[a-z]+:|\/\/)/i.test(link)
}

/** Links that lead to no file, or to no heading of it. */
export function deadLinks(files: ReadonlyMap<string, string>, links: readonly SiteLink[]): string[] {
  const dead = links.filter((each) => {
    if (isForeign(each)) return false
    const [path = '', anchor] = each.link.split('#')
    const file = path === '' ? each.from : posix.join(posix.dirname(each.from), decodeURI(path))
    const text = files.get(file)
    if (text === undefined) return true
    return anchor !== undefined && !text.includes(` id="${decodeURIComponent(anchor)}"`)
  })
  return dead.map(({ from, link }) => `${from}: ${link}`)
}

// Turns links between files of the repository into links between files of the site.

import { existsSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import type { Page } from '../pages.ts'

export class SiteLinks {
  /** Files that are no pages but that a page links to or shows, and where they are copied to. */
  readonly copies = new Map<string, string>()
  readonly #outputs: ReadonlyMap<string, string>

  constructor(pages: readonly Page[]) {
    this.#outputs = new Map(pages.map(({ source, output }) => [source, output]))
  }

  /** The address for a link that stands in a page. Throws if its file does not exist. */
  resolve(link: string, page: Pick<Page, 'source' | 'output'>): string {
    if (/^(?:[a-z][a-z\d+.-]*:|\/\/|#)/i.test(link)) return link
    const [path = '', anchor] = link.split('#')
    const target = posix.join(posix.dirname(page.source), decodeURI(path)).replace(/\/$/, '')
    const output = this.#outputs.get(target) ?? this.#outputs.get(`${target}/README.md`) ?? this.#copyOf(target)
    if (output === undefined) {
      throw new Error(`${page.source} links to ${link}, which is neither a file nor a folder with a page`)
    }
    const address = posix.relative(posix.dirname(page.output), output)
    return encodeURI(address) + (anchor === undefined ? '' : `#${anchor}`)
  }

  /** Browsers show any text file that ends with `.txt`; they would offer others for download. Static hosts hide dot files. */
  #copyOf(file: string): string | undefined {
    if (file.startsWith('..') || !existsSync(file) || !statSync(file).isFile()) return undefined
    const isPicture = /\.(?:png|jpe?g|svg|gif|webp|avif)$/i.test(file)
    const name = posix.basename(file).replace(/^\./, '')
    const output = isPicture ? file : posix.join(posix.dirname(file), `${name}.txt`)
    this.copies.set(file, output)
    return output
  }
}

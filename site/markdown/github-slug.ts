// The anchors of headings, as GitHub makes them. So a link to a heading works on GitHub and on the site.

/** The anchors of one document. */
export class GithubSlugs {
  readonly #counts = new Map<string, number>()

  /** The anchor of the next heading. A repeated heading gets a number. */
  next(heading: string): string {
    const slug = slugOf(heading)
    let anchor = slug
    while (this.#counts.has(anchor)) {
      const count = (this.#counts.get(slug) ?? 0) + 1
      this.#counts.set(slug, count)
      anchor = `${slug}-${count}`
    }
    this.#counts.set(anchor, 0)
    return anchor
  }
}

function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

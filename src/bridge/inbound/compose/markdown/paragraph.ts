// One paragraph on its way to Markdown: the characters as the person wrote them, the spans that are written differently, and
// the characters that get a backslash.

/** Marks of a pair in Markdown. `length` is what markdown-it counts: 0 for strike, which has no rule of three. */
export type Pair = { markdown: '**' | '~~' | '_' | '*'; length: number; closerOpens: boolean; openerCloses: boolean }

export type Span = {
  from: number
  to: number
  markdown: string
  /** Set for a mark of WhatsApp. */
  pair?: Pair
  /** Set for a web or mail address; `link` is its form as a Markdown link. */
  address?: { link: string; isShielded: boolean }
}

export class Paragraph {
  readonly source: string
  readonly spans: readonly Span[]
  readonly #starts = new Map<number, Span>()
  readonly #inSpan: Uint8Array
  readonly #escaped: Uint8Array
  /** Characters that markdown-it takes together with a backslash before them. */
  readonly #special: Uint8Array
  readonly #replaced = new Map<number, string>()

  constructor(source: string, spans: readonly Span[]) {
    this.source = source
    this.spans = spans
    this.#inSpan = new Uint8Array(source.length)
    this.#escaped = new Uint8Array(source.length)
    this.#special = new Uint8Array(source.length)
    for (const span of spans) {
      this.#starts.set(span.from, span)
      this.#inSpan.fill(1, span.from, span.to)
    }
  }

  spanAt(at: number): Span | undefined {
    return this.#starts.get(at)
  }

  isText(at: number): boolean {
    return at >= 0 && at < this.source.length && this.#inSpan[at] === 0
  }

  isEscaped(at: number): boolean {
    return this.#escaped[at] === 1
  }

  /** Whether the character stands in ordinary text, which typography and links are looked for in. */
  isOrdinary(at: number): boolean {
    return this.isText(at) && !this.isEscaped(at) && this.#special[at] === 0 && this.source.charAt(at) !== '\n'
  }

  escape(at: number): void {
    this.#escaped[at] = 1
  }

  setSpecial(at: number): void {
    this.#special[at] = 1
  }

  replace(at: number, by: string): void {
    this.#replaced.set(at, by)
  }

  /** The Markdown of one character, or of the span that begins there. */
  markdownAt(at: number): string {
    const span = this.#starts.get(at)
    if (span) return span.markdown
    if (!this.isText(at)) return ''
    const char = this.#replaced.get(at) ?? this.source.charAt(at)
    return this.isEscaped(at) ? `\\${char}` : char
  }

  toMarkdown(): string {
    let markdown = ''
    let from = 0
    for (let at = 0; at < this.source.length; at++) {
      const isSpan = this.#inSpan[at] === 1
      if (!isSpan && !this.isEscaped(at) && !this.#replaced.has(at)) continue
      markdown += this.source.slice(from, at) + this.markdownAt(at)
      from = at + 1
    }
    return markdown + this.source.slice(from)
  }
}

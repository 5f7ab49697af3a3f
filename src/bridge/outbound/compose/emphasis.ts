// Turns the marks of Markdown for bold, italic and strike into those of WhatsApp, in one pass over the text.

type Style = '*' | '_' | '~'

type Run = {
  mark: string
  at: number
  /** The marks of the run that have no partner yet. */
  left: number
  /** Whether a single mark of the run may open or close: only at the edge of a word, so that 2*3*4 stays as it is. */
  opensWord: boolean
  closesWord: boolean
  closings: Style[]
  openings: Style[]
}

/** A longer run is no mark. */
const longest = 3
const word = /[\p{L}\p{N}]/u

export function emphasize(text: string): string {
  const runs = new Map<number, Run>()
  let open = new OpenRuns()
  for (const { 0: found, index } of text.matchAll(/\*+|_+|~+|\n{2,}/g)) {
    // A pair of marks does not cross a blank line.
    if (found.startsWith('\n')) open = new OpenRuns()
    else if (found.length <= longest) {
      const run = runAt(text, index, found)
      runs.set(index, run)
      if (index > 0 && !/\s/.test(text.charAt(index - 1))) closePairs(open, run)
      if (run.left > 0 && /\S/.test(text.charAt(index + found.length))) open.push(run)
    }
  }
  return write(text, runs)
}

function runAt(text: string, at: number, found: string): Run {
  const opensWord = !word.test(text.charAt(at - 1))
  const closesWord = !word.test(text.charAt(at + found.length))
  return { mark: found.charAt(0), at, left: found.length, opensWord, closesWord, closings: [], openings: [] }
}

function closePairs(open: OpenRuns, run: Run): void {
  for (let opener = open.findFor(run); opener; opener = open.findFor(run)) {
    const size = run.left === 1 || opener.left === 1 || (run.left === 3 && opener.left === 3) ? 1 : 2
    const style = run.mark === '~' ? '~' : size === 2 ? '*' : '_'
    opener.openings.unshift(style)
    run.closings.push(style)
    opener.left -= size
    run.left -= size
    open.closeUpTo(opener)
  }
}

/** The runs that may still open a pair, in their order. Finding the partner of a run takes no search. */
class OpenRuns {
  readonly #runs: Run[] = []
  /** The places of the runs in the order, by what they can be closed by. A place that is no longer right is dropped when met. */
  readonly #places = new Map<string, number[]>()

  push(run: Run): void {
    this.#runs.push(run)
    const key = keyOf(run)
    const places = this.#places.get(key)
    if (places) places.push(this.#runs.length - 1)
    else this.#places.set(key, [this.#runs.length - 1])
  }

  findFor({ mark, left, closesWord }: Run): Run | undefined {
    const places = wantedBy(mark, left, closesWord).map((key) => this.#lastPlace(key))
    return this.#runs[Math.max(-1, ...places)]
  }

  /** Forgets the runs inside the pair, and the opener when all of its marks are used. */
  closeUpTo(opener: Run): void {
    let top = this.#runs.pop()
    while (top && top !== opener) top = this.#runs.pop()
    if (opener.left > 0) this.push(opener)
  }

  #lastPlace(key: string): number {
    const places = this.#places.get(key) ?? []
    for (let place = places.at(-1); place !== undefined; place = places.at(-1)) {
      const run = this.#runs[place]
      if (run && keyOf(run) === key) return place
      places.pop()
    }
    return -1
  }
}

function keyOf({ mark, left, opensWord }: Run): string {
  return `${mark}${left}${opensWord ? 'word' : ''}`
}

/** What closes what: two close two or three, one closes one, three close any. Tildes count in twos, underscores alone. */
function wantedBy(mark: string, left: number, closesWord: boolean): string[] {
  if (left === 0) return []
  if (mark === '~') return left === 2 ? ['~2', '~2word'] : []
  const single = closesWord ? [`${mark}1word`] : []
  if (mark === '_') return left === 1 ? single : []
  if (left === 1) return closesWord ? [...single, '*3word'] : []
  return [...(left === 3 ? single : []), '*2', '*2word', '*3', '*3word']
}

/** A mark of WhatsApp ends at a line break, so each line gets its own marks. */
function write(text: string, runs: ReadonlyMap<number, Run>): string {
  const styles = new OpenStyles()
  let written = ''
  let from = 0
  for (const { 0: found, index } of text.matchAll(/[*_~]+|\n[ \t]*/g)) {
    written += text.slice(from, index)
    from = index + found.length
    if (found.startsWith('\n')) written += styles.end() + found + (text.charAt(from) === '\n' ? '' : styles.begin())
    else
      for (let at = index; at < from;) {
        const run = runs.get(at)
        const end = runEnd(text, at)
        written += run
          ? styles.close(run.closings) + run.mark.repeat(run.left) + styles.open(run.openings)
          : text.slice(at, end)
        at = end
      }
  }
  return written + text.slice(from)
}

function runEnd(text: string, at: number): number {
  let end = at + 1
  while (text.charAt(end) === text.charAt(at)) end++
  return end
}

/** WhatsApp knows each style once, however often Markdown nests it. */
class OpenStyles {
  readonly #depths = new Map<Style, number>()

  open(styles: readonly Style[]): string {
    return styles.filter((style) => this.#change(style, 1) === 1).join('')
  }

  close(styles: readonly Style[]): string {
    return styles.filter((style) => this.#change(style, -1) === 0).join('')
  }

  begin(): string {
    return [...this.#depths.keys()].join('')
  }

  end(): string {
    return [...this.#depths.keys()].reverse().join('')
  }

  #change(style: Style, change: 1 | -1): number {
    const depth = (this.#depths.get(style) ?? 0) + change
    if (depth === 0) this.#depths.delete(style)
    else this.#depths.set(style, depth)
    return depth
  }
}

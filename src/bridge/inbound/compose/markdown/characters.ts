// Sorts characters as the renderer of the helpdesk (markdown-it) sorts them. The edge of a text, '', counts as white space.

const whiteSpace = /[\t-\r \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/
const asciiPunctuation = /[!-/:-@[-`{-~]/
const otherPunctuation = /\p{P}/u

function isWhiteSpace(char: string): boolean {
  return char === '' || whiteSpace.test(char)
}

function isPunctuation(char: string): boolean {
  return asciiPunctuation.test(char) || (char > '\u007f' && otherPunctuation.test(char))
}

/** Whether a backslash before the character is swallowed. */
export function isEscapable(char: string): boolean {
  return asciiPunctuation.test(char)
}

/** The end of the run of `char` that begins at `at`. */
export function runEnd(text: string, at: number, char = text.charAt(at)): number {
  let end = at
  while (end < text.length && text.charAt(end) === char) end++
  return end
}

export type Flanks = { opens: boolean; closes: boolean }

/** Whether a run of marks between two characters can open and can close emphasis. */
export function flanksOf(mark: string, before: string, after: string): Flanks {
  const [spaceBefore, spaceAfter] = [isWhiteSpace(before), isWhiteSpace(after)]
  const [punctuationBefore, punctuationAfter] = [isPunctuation(before), isPunctuation(after)]
  const left = !spaceAfter && (!punctuationAfter || spaceBefore || punctuationBefore)
  const right = !spaceBefore && (!punctuationBefore || spaceAfter || punctuationAfter)
  if (mark !== '_') return { opens: left, closes: right }
  return { opens: left && (!right || punctuationBefore), closes: right && (!left || punctuationAfter) }
}

// Says which of the offered choices the text of a customer names: by its number, by its title, or by both.

/** "2", "02", "2.", "2)", "(2)", "#2" and the digit as an emoji. */
const number = /^[(#]?(\d{1,3})[.):-]?$/
/** A line as it was offered: "2. Yes". */
const line = /^(\d{1,3})[.)] ?(.+)$/
/** The marks that make an emoji of a digit. */
const keycap = /[\uFE0F\u20E3]/g

/** The title of the choice; undefined when the text names none, or more than one. */
export function findChoice(text: string, choices: readonly string[]): string | undefined {
  const written = plain(text)
  const titles = choices.map(plain)
  const named = titles.flatMap((title, index) => (title === written ? [index] : []))
  // A choice may be called "2". Its own title counts more than the number of another choice.
  if (named.length > 0) return named.length === 1 ? choices[named[0] ?? 0] : undefined
  const numbered = number.exec(written)
  if (numbered) return choices[Number(numbered[1]) - 1]
  const [, digits, rest] = line.exec(written) ?? []
  const index = Number(digits) - 1
  return rest !== undefined && titles[index] === rest ? choices[index] : undefined
}

/** Without differences of case, spaces and width, and without WhatsApp's marks around it. */
function plain(text: string): string {
  const folded = text.normalize('NFKC').replace(keycap, '').toLowerCase()
  return folded
    .replace(/[*_~`]/g, '')
    .trim()
    .replace(/\s+/g, ' ')
}

// Finds what WhatsApp shows as code: three backticks up to the next three, on one line or several, and one backtick up to the
// next one on the same line with no backtick between.

type Run = { at: number; length: number }

export type Code = { from: number; to: number }

export function findCode(text: string): Code[] {
  const runs = [...text.matchAll(/`+/g)].map(({ index, 0: run }) => ({ at: index, length: run.length }))
  const found: Code[] = []
  for (let index = 0; index < runs.length; index++) {
    const opener = runs[index]
    const end = opener ? closerOf(text, runs, index, opener) : index
    const closer = runs[end]
    if (!opener || !closer || end === index) continue
    found.push({ from: opener.at, to: closer.at + closer.length })
    index = end
  }
  return found
}

/** The index of the run that closes the code, or the index of the opener itself if it opens none. */
function closerOf(text: string, runs: readonly Run[], index: number, opener: Run): number {
  if (opener.length !== 1 && opener.length !== 3) return index
  let end = index + 1
  if (opener.length === 3) while (end < runs.length && runs[end]?.length !== 3) end++
  const closer = runs[end]
  if (closer?.length !== opener.length) return index
  const code = text.slice(opener.at + opener.length, closer.at)
  return code.trim() === '' || (opener.length === 1 && code.includes('\n')) ? index : end
}

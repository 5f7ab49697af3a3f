// Cuts a list of ids into pieces that a statement takes as parameters.
//
// A piece has one of a few lengths. Each length makes another text of SQL, which the database would have to read and plan: that took
// longer than the statement itself. The last id is repeated until the length fits, which changes nothing of `id IN (…)`.

// The longest is far below the number of parameters that the engines take.
const lengths = [1, 4, 16, 64, 250, 500]
const longest = Math.max(...lengths)

export function idPieces(ids: readonly string[]): string[][] {
  const count = Math.ceil(ids.length / longest)
  return Array.from({ length: count }, (_, n) => filledUp(ids.slice(n * longest, (n + 1) * longest)))
}

function filledUp(ids: readonly string[]): string[] {
  const last = ids.slice(-1)
  const length = lengths.find((each) => each >= ids.length) ?? longest
  return [...ids, ...Array.from({ length: length - ids.length }, () => last).flat()]
}

// Cuts a list of ids into pieces that a statement takes as parameters.

// Far below the number of parameters that the engines take.
const idsPerStatement = 500

export function idPieces(ids: readonly string[]): string[][] {
  const count = Math.ceil(ids.length / idsPerStatement)
  return Array.from({ length: count }, (_, n) => ids.slice(n * idsPerStatement, (n + 1) * idsPerStatement))
}

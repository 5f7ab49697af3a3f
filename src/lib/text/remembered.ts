// Remembers what a slow function returned for the texts that are in use.

/** Forgets everything when more than `max` texts are remembered. */
export function remembered<Result>(max: number, compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>()
  return (text) => {
    const known = results.get(text)
    if (known !== undefined) return known
    const result = compute(text)
    if (results.size >= max) results.clear()
    results.set(text, result)
    return result
  }
}

// How long to wait before storage is asked again.

const firstMs = 50
const longestMs = 2_000

export function retryDelay(attempt: number): number {
  return Math.min(firstMs * 2 ** Math.min(attempt, 10), longestMs)
}

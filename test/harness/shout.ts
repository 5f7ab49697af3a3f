// What the converter of a test does with a text: works for a while, fails, or ends the thread.

export type Shouted = { text: string; then?: 'fail' | 'end'; workMs?: number }

export function shout({ text, then, workMs = 0 }: Shouted): string {
  if (then === 'fail') throw new Error('this text cannot be shouted')
  if (then === 'end') process.exit(1)
  const end = performance.now() + workMs
  while (performance.now() < end);
  return text.toUpperCase()
}

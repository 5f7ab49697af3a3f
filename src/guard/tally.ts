// Counts over sliding windows. The counts are kept up to date with each sample, so reading them is cheap.

/** A finished part: delivered or not. */
export type Sample = { at: number; recipient: string; delivered: boolean }
/** From the shortest to the longest. */
type TallyWindows = { velocityMs: number; diversityMs: number; deliveryMs: number }

export class Tally {
  readonly #windows: TallyWindows
  readonly #maxSamples: number
  readonly #recipients = new Map<string, number>()
  #samples: Sample[] = []
  /** Positions of the first sample within each of the shorter windows. */
  #recent = 0
  #lately = 0
  #delivered = 0

  constructor(windows: TallyWindows, maxSamples: number) {
    this.#windows = windows
    this.#maxSamples = maxSamples
  }

  /** Samples come in the order of their times. */
  add(sample: Sample): void {
    this.#samples.push(sample)
    this.#recipients.set(sample.recipient, (this.#recipients.get(sample.recipient) ?? 0) + 1)
    if (sample.delivered) this.#delivered += 1
    if (this.#samples.length > this.#maxSamples) this.#forget(1)
  }

  counts(now: number): { velocity: number; diversity: number; delivered: number; samples: number } {
    const { velocityMs, diversityMs, deliveryMs } = this.#windows
    this.#recent = this.#firstAfter(this.#recent, now - velocityMs)
    this.#leaveLately(this.#firstAfter(this.#lately, now - diversityMs))
    this.#forget(this.#firstAfter(0, now - deliveryMs))
    return {
      velocity: this.#samples.length - this.#recent,
      diversity: this.#recipients.size,
      delivered: this.#delivered,
      samples: this.#samples.length,
    }
  }

  #firstAfter(from: number, time: number): number {
    let position = from
    while ((this.#samples[position]?.at ?? Infinity) <= time) position += 1
    return position
  }

  #leaveLately(first: number): void {
    for (const { recipient } of this.#samples.slice(this.#lately, first)) {
      const left = (this.#recipients.get(recipient) ?? 0) - 1
      if (left > 0) this.#recipients.set(recipient, left)
      else this.#recipients.delete(recipient)
    }
    this.#lately = Math.max(this.#lately, first)
  }

  #forget(count: number): void {
    if (count === 0) return
    this.#leaveLately(count)
    const gone = this.#samples.splice(0, count)
    this.#delivered -= gone.filter(({ delivered }) => delivered).length
    this.#recent = Math.max(0, this.#recent - count)
    this.#lately = Math.max(0, this.#lately - count)
  }
}

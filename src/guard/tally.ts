// Counts over sliding windows. The counts are kept up to date with each sample, so reading them is cheap.

/** A finished part: delivered or not. */
export type Sample = { at: number; recipient: string; delivered: boolean }
/** From the shortest to the longest. */
type TallyWindows = { velocityMs: number; diversityMs: number; deliveryMs: number }

export class Tally {
  readonly #windows: TallyWindows
  readonly #maxSamples: number
  readonly #recipients = new Map<string, number>()
  /** Forgotten samples stay in front for a while: to remove them one by one would move all others each time. */
  #samples: Sample[] = []
  /** Positions of the first sample within each window. */
  #first = 0
  #lately = 0
  #recent = 0
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
    if (this.#count > this.#maxSamples) this.#forget(this.#first + 1)
  }

  counts(now: number): { velocity: number; diversity: number; delivered: number; samples: number } {
    const { velocityMs, diversityMs, deliveryMs } = this.#windows
    this.#recent = this.#firstAfter(this.#recent, now - velocityMs)
    this.#leaveLately(this.#firstAfter(this.#lately, now - diversityMs))
    this.#forget(this.#firstAfter(this.#first, now - deliveryMs))
    return {
      velocity: this.#samples.length - this.#recent,
      diversity: this.#recipients.size,
      delivered: this.#delivered,
      samples: this.#count,
    }
  }

  get #count(): number {
    return this.#samples.length - this.#first
  }

  #firstAfter(from: number, time: number): number {
    let position = from
    while ((this.#samples[position]?.at ?? Infinity) <= time) position += 1
    return position
  }

  /** Those before this position are too old for the diversity. */
  #leaveLately(end: number): void {
    for (; this.#lately < end; this.#lately++) {
      const { recipient = '' } = this.#samples[this.#lately] ?? {}
      const left = (this.#recipients.get(recipient) ?? 0) - 1
      if (left > 0) this.#recipients.set(recipient, left)
      else this.#recipients.delete(recipient)
    }
  }

  /** Those before this position do not count any more. */
  #forget(end: number): void {
    this.#leaveLately(end)
    for (; this.#first < end; this.#first++) if (this.#samples[this.#first]?.delivered) this.#delivered -= 1
    this.#recent = Math.max(this.#recent, end)
    if (this.#first > this.#count) this.#drop(this.#first)
  }

  #drop(count: number): void {
    this.#samples = this.#samples.slice(count)
    this.#first = 0
    this.#lately -= count
    this.#recent -= count
  }
}

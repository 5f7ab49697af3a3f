// Keeps the last events, so that a listener that lost its connection gets what it missed.
//
// The ids are `<boot>-<number>`: an id of another process is never taken for one of this process.

export type LiveEvent = { id: string; text: string }

const idForm = /^([a-z0-9]{1,32})-([0-9]{1,15})$/

export class EventRing {
  readonly #boot: string
  readonly #max: number
  #events: LiveEvent[] = []
  #last = 0
  /** Every event after this number is in the ring. */
  #floor = 0

  constructor(boot: string, max: number) {
    this.#boot = boot
    this.#max = max
  }

  get lastId(): string {
    return this.#idOf(this.#last)
  }

  add(kind: string, data: unknown): LiveEvent {
    const id = this.#idOf(++this.#last)
    const event = { id, text: formatEvent({ id, kind, data }) }
    this.#events.push(event)
    // Cut now and then: removing the first of a list for every event would cost more.
    if (this.#events.length >= 2 * this.#max) this.#events = this.#events.slice(-this.#max)
    this.#floor = Math.max(this.#floor, this.#last - this.#max)
    return event
  }

  /** From now on events are missed: a listener with an id from before must start anew. */
  interrupt(): void {
    this.#events = []
    this.#floor = ++this.#last
  }

  /** The events after the one with this id; undefined when some of them are not known any more. */
  after(id: string): readonly LiveEvent[] | undefined {
    const [, boot, digits = ''] = idForm.exec(id) ?? []
    const number = Number(digits)
    if (boot !== this.#boot || number < this.#floor || number > this.#last) return undefined
    return number === this.#last ? [] : this.#events.slice(number - this.#last)
  }

  #idOf(number: number): string {
    return `${this.#boot}-${number}`
  }
}

/** One event on the wire. JSON has no line breaks, so the data is one line. */
export function formatEvent({ id, kind, data }: { id?: string; kind: string; data: unknown }): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`
}

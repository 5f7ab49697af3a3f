// Sends each SQL text to the worker thread once: the first message carries the text, later ones its number.

/** A text to remember under a number, a number remembered, or a text that is not worth remembering. */
export type WireSql = { number: number; text: string } | number | string

// Statements built by code are few; those with a list of parameters come in many lengths and must not pile up.
const maxRemembered = 1000

export class SqlEncoder {
  readonly #numbers = new Map<string, number>()

  encode(text: string): WireSql {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    if (this.#numbers.size >= maxRemembered) return text
    const number = this.#numbers.size
    this.#numbers.set(text, number)
    return { number, text }
  }
}

export class SqlDecoder {
  readonly #texts: string[] = []

  decode(wire: WireSql): string {
    if (typeof wire === 'string') return wire
    if (typeof wire === 'object') this.#texts[wire.number] = wire.text
    const text = this.#texts[typeof wire === 'object' ? wire.number : wire]
    if (text === undefined) throw new Error('an SQL number was used before its text arrived')
    return text
  }
}

// Remembers the results of a pure function. All members of a group open the same message with the same keys: each member still
// brings its own keys, and the work for equal keys is done once.

const REMEMBERED = 1_000

export class Memo<Result extends object> {
  #recent = new Map<string, Result>()
  #older = new Map<string, Result>()

  /** `inputs` are all that the result depends on. */
  get(inputs: readonly (Uint8Array | string)[], compute: () => Result): Result {
    const name = inputs.map(nameOf).join(' ')
    const known = this.#recent.get(name) ?? this.#older.get(name)
    if (known !== undefined) return known
    const result = compute()
    if (this.#recent.size >= REMEMBERED) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(name, result)
    return result
  }
}

/** The same for what depends on one object alone. Members of a group get one stanza, and so one object. */
export class ObjectMemo<Subject extends object, Result extends object> {
  readonly #known = new WeakMap<Subject, Result>()

  get(subject: Subject, compute: () => Result): Result {
    const known = this.#known.get(subject)
    if (known !== undefined) return known
    const result = compute()
    this.#known.set(subject, result)
    return result
  }
}

/** With its length, so that two lists of inputs never have one name. */
function nameOf(input: Uint8Array | string): string {
  const text =
    typeof input === 'string' ? input : Buffer.from(input.buffer, input.byteOffset, input.length).toString('latin1')
  return `${text.length} ${text}`
}

// The instances of the overview. A change of one instance is told to its card only.

/** @typedef {import('../../lib/use-instance.js').Row} Row */
/** @typedef {Row | { name: string, deleted: true }} RowEvent */

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

export class RowStore {
  /** @type {Map<string, Row>} */
  #rows = new Map()
  /** @type {Map<string, () => void>} */
  #cards = new Map()
  /** @type {Set<() => void>} */
  #lists = new Set()
  /** @type {Set<() => void>} */
  #totals = new Set()
  /** What the events say while everything is loaded: the answer may be older. @type {Map<string, RowEvent> | null} */
  #newer = null

  /** @param {string} name @returns {Row | undefined} */
  get(name) {
    return this.#rows.get(name)
  }

  /** All instances, by name. @returns {Row[]} */
  list() {
    return [...this.#rows.values()].sort((a, b) => collator.compare(a.name, b.name))
  }

  /** @param {(row: Row) => number} value */
  sum(value) {
    let sum = 0
    for (const row of this.#rows.values()) sum += value(row)
    return sum
  }

  /** Called before everything is loaded. */
  beginLoad() {
    this.#newer = new Map()
  }

  /** Takes what was loaded. Events that came meanwhile count more. @param {readonly Row[]} rows */
  replace(rows) {
    const names = new Set(rows.map(({ name }) => name))
    const gone = [...this.#rows.keys()].filter((name) => !names.has(name))
    const newer = [...(this.#newer?.values() ?? [])]
    this.#newer = null
    this.#apply([...gone.map((name) => ({ name, deleted: /** @type {const} */ (true) })), ...rows, ...newer])
  }

  /**
   * Takes an event.
   * @param {RowEvent} event
   * @returns {boolean} whether it may change what needs the operator
   */
  take(event) {
    this.#newer?.set(event.name, event)
    const before = this.#rows.get(event.name)
    this.#apply([event])
    const after = this.#rows.get(event.name)
    return ['state', 'parked', 'ban_level'].some((key) => Object(before)[key] !== Object(after)[key])
  }

  /** @param {readonly RowEvent[]} events */
  #apply(events) {
    const changed = events.map((event) => this.#set(event))
    if (changed.some(({ isNew }) => isNew)) for (const listener of this.#totals) listener()
    if (changed.some(({ isListed }) => isListed)) for (const listener of this.#lists) listener()
  }

  /** @param {RowEvent} event */
  #set(event) {
    const before = this.#rows.get(event.name)
    const after = 'deleted' in event ? undefined : event
    if (isSame(before, after)) return { isNew: false, isListed: false }
    if (after) this.#rows.set(event.name, after)
    else this.#rows.delete(event.name)
    this.#cards.get(event.name)?.()
    // The state decides whether a filtered list shows the instance.
    return { isNew: true, isListed: before?.state !== after?.state }
  }

  /** @param {string} name @param {() => void} listener */
  onRow(name, listener) {
    this.#cards.set(name, listener)
    return () => {
      this.#cards.delete(name)
    }
  }

  /** An instance came, went or changed its state. @param {() => void} listener */
  onList(listener) {
    return add(this.#lists, listener)
  }

  /** Anything changed. @param {() => void} listener */
  onAny(listener) {
    return add(this.#totals, listener)
  }
}

/** @param {Set<() => void>} set @param {() => void} listener */
function add(set, listener) {
  set.add(listener)
  return () => {
    set.delete(listener)
  }
}

/** @param {Row | undefined} a @param {Row | undefined} b */
function isSame(a, b) {
  if (!a || !b) return a === b
  return /** @type {(keyof Row)[]} */ (Object.keys(b)).every((key) => a[key] === b[key])
}

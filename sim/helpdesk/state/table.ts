// One table: rows by id, and the sequence of ids.

export class Table<Row extends { id: number }> {
  readonly #rows = new Map<number, Row>()
  #lastId = 0

  /** Takes an id for a row that is committed later. */
  reserve(): number {
    return ++this.#lastId
  }

  /** The sequence moves on even when `make` throws, as in the real database. */
  insert<New extends Row>(make: (id: number) => New, id = this.reserve()): New {
    const row = make(id)
    this.#rows.set(row.id, row)
    return row
  }

  get(id: number): Row | undefined {
    return this.#rows.get(id)
  }

  get size(): number {
    return this.#rows.size
  }

  delete(row: Row): void {
    this.#rows.delete(row.id)
  }

  all(): Row[] {
    return [...this.#rows.values()]
  }

  find(matches: (row: Row) => boolean): Row | undefined {
    for (const row of this.#rows.values()) if (matches(row)) return row
    return undefined
  }
}

// The waiting items of one queue. Taking the first item costs the same however long the list is.

/** An item carries its row, or only the id of a row that is read when it is needed. */
export type QueueItem<Row> = { id: string; row: Row | null }

// A shorter list of taken items is not worth cutting off.
const cutFrom = 1000

export class ItemList<Row> {
  /** The waiting items start at `#next`. */
  #items: QueueItem<Row>[] = []
  #next = 0

  get length(): number {
    return this.#items.length - this.#next
  }

  ids(): string[] {
    return this.#items.slice(this.#next).map(({ id }) => id)
  }

  push(item: QueueItem<Row>): void {
    this.#items.push(item)
  }

  /** Puts the item before those at the end that are later: by their ids, unless the caller knows the order. */
  insert(item: QueueItem<Row>, isLater = (id: string) => id > item.id): void {
    let at = this.#items.length
    while (at > this.#next && isLater(this.#items[at - 1]?.id ?? '')) at--
    this.#items.splice(at, 0, item)
  }

  putFirst(item: QueueItem<Row>): void {
    if (this.#next > 0) this.#items[--this.#next] = item
    else this.#items.unshift(item)
  }

  takeFirst(): QueueItem<Row> | undefined {
    const item = this.#items[this.#next]
    if (!item) return undefined
    this.#next++
    if (this.#next >= cutFrom && this.#next * 2 > this.#items.length) this.#keep(this.#items.slice(this.#next))
    return item
  }

  takeAll(): QueueItem<Row>[] {
    const items = this.#items.slice(this.#next)
    this.#keep([])
    return items
  }

  /** The removed item and whether it was the first. */
  remove(id: string): { item: QueueItem<Row>; isFirst: boolean } | undefined {
    const at = this.#items.findIndex((item, index) => index >= this.#next && item.id === id)
    const [item] = at < 0 ? [] : this.#items.splice(at, 1)
    return item && { item, isFirst: at === this.#next }
  }

  /** Takes over the items of another list, in the order of ids. The items of each list keep their order. */
  absorb(other: ItemList<Row>): void {
    const own = this.takeAll()
    const others = other.takeAll()
    const items: QueueItem<Row>[] = []
    let next = 0
    for (const item of own) {
      for (let first = others[next]; first && first.id < item.id; first = others[++next]) items.push(first)
      items.push(item)
    }
    this.#keep([...items, ...others.slice(next)])
  }

  #keep(items: QueueItem<Row>[]): void {
    this.#items = items
    this.#next = 0
  }
}

// Notices which source files keep something of an instance in a Map or a Set, whether or not the class is known to anyone.
//
// Every Map and Set of the process passes through `set` and `add` of the prototypes. Those are replaced by ones that note
// the collection when the key or the value names the instance. Private fields need no reflection this way, and a new class
// is noticed without being registered.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collection = Map<unknown, unknown> | Set<unknown>

const own = import.meta.filename

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

export class InstanceMemory implements Disposable {
  readonly #instance: string
  readonly #found = new WeakMap<Collection, string>()
  readonly #collections: WeakRef<Collection>[] = []
  readonly #restore: () => void

  constructor(instance: string) {
    this.#instance = instance
    const note = this.#note.bind(this)
    const restoreMap = replace(Map.prototype, 'set', (collection, key, value) => {
      note(collection, key, value)
    })
    const restoreSet = replace(Set.prototype, 'add', (collection, value) => {
      note(collection, value, undefined)
    })
    this.#restore = () => {
      restoreMap()
      restoreSet()
    }
  }

  /** The files that keep something of the instance now; a collection that nothing refers to any more does not count. */
  async files(): Promise<string[]> {
    // A reference that was looked at lives until the end of the turn.
    await new Promise(setImmediate)
    collectGarbage()
    const reachable = this.#collections.flatMap((each) => each.deref() ?? [])
    const files = reachable.filter((each) => this.#holds(each)).map((each) => this.#found.get(each) ?? '')
    return [...new Set(files)].sort()
  }

  [Symbol.dispose](): void {
    this.#restore()
  }

  #holds(collection: Collection): boolean {
    return [...collection.entries()].some(([key, value]) => this.#names(key) || this.#names(value))
  }

  #note(collection: Collection, key: unknown, value: unknown): void {
    if (this.#found.has(collection) || !(this.#names(key) || this.#names(value))) return
    const file = keeper(new Error('here').stack ?? '')
    if (file === undefined) return
    this.#found.set(collection, file)
    this.#collections.push(new WeakRef(collection))
  }

  #names(value: unknown): boolean {
    if (typeof value === 'string') return value.includes(this.#instance)
    if (typeof value !== 'object' || value === null) return false
    // Rows are often kept by their own id; BoundedMap wraps its values.
    if ('value' in value && Object.keys(value).length === 2) return this.#names(value.value)
    return 'instance' in value && value.instance === this.#instance
  }
}

type Method = (this: Collection, ...values: unknown[]) => Collection

/** Calls `before` ahead of every call of the method; returns how to undo that. */
function replace(prototype: object, name: string, before: (collection: Collection, ...values: unknown[]) => void) {
  const original = Reflect.get(prototype, name) as Method
  const replaced: Method = function (...values) {
    before(this, ...values)
    return original.apply(this, values)
  }
  Reflect.set(prototype, name, replaced)
  return () => Reflect.set(prototype, name, original)
}

/** The innermost file that is neither a general collection of src/lib nor this one; undefined outside of our own code. */
function keeper(stack: string): string | undefined {
  const files = [...stack.matchAll(/\(?(node:[\w/]+|file:\/\/\S+?):\d+:\d+\)?$/gm)].map(([, file = '']) => file)
  const path = files.find((file) => !file.includes(own) && !/\/src\/lib\/(queues\/)?[\w-]+\.ts$/.test(file)) ?? ''
  return /\/(src|test)\/(?!sim)[\w/.-]+\.ts$/.exec(path)?.[0].slice(1)
}

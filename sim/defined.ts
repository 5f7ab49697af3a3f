// Drops the undefined values of an object, because an optional property must be absent and not undefined.
type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

export function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}

// Reads and writes the few protobuf shapes of Signal messages: numbers and byte strings by field number.
export type Field = readonly [number: number, value: number | Uint8Array]

export function writeFields(fields: readonly Field[]): Buffer {
  const parts: Uint8Array[] = []
  for (const [number, value] of fields) {
    if (typeof value === 'number') parts.push(varint(number << 3), varint(value))
    else parts.push(varint((number << 3) | 2), varint(value.length), value)
  }
  return Buffer.concat(parts)
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest > 127) {
    bytes.push((rest % 128) | 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
  return Buffer.from(bytes)
}

export class Fields {
  readonly #numbers = new Map<number, number>()
  readonly #bytes = new Map<number, Buffer>()

  constructor(data: Uint8Array) {
    const buffer = Buffer.from(data)
    let at = 0
    const read = (): number => {
      let value = 0
      for (let factor = 1; ; factor *= 128) {
        const byte = buffer.readUInt8(at++)
        value += (byte & 127) * factor
        if (byte < 128) return value
      }
    }
    while (at < buffer.length) {
      const key = read()
      const number = key >>> 3
      if ((key & 7) === 0) this.#numbers.set(number, read())
      else if ((key & 7) === 2) {
        const length = read()
        this.#bytes.set(number, buffer.subarray(at, at + length))
        at += length
      } else throw new Error(`unexpected wire type ${key & 7} in a Signal message`)
    }
  }

  number(field: number): number | undefined {
    return this.#numbers.get(field)
  }

  bytes(field: number): Buffer {
    const value = this.#bytes.get(field)
    if (!value) throw new Error(`field ${field} is missing in a Signal message`)
    return value
  }
}

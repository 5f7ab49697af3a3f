// Reads the fields of a JSON body and names the field that is missing or has the wrong type.
export class ControlError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

type Bounds = { min: number; max?: number }

export function wholeNumber(name: string, value: number, { min, max = Number.MAX_SAFE_INTEGER }: Bounds): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  throw new ControlError(400, `"${name}" must be a whole number from ${min} to ${max}`)
}

function required<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw new ControlError(400, `"${name}" is missing`)
  return value
}

export class Fields {
  readonly #values: Record<string, unknown>

  constructor(value: unknown) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ControlError(400, 'the body must be a JSON object')
    }
    this.#values = { ...value }
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined && this.#values[name] !== null
  }

  text(name: string): string {
    return required(name, this.optionalText(name))
  }

  optionalText(name: string): string | undefined {
    return this.#read(name, (value) => typeof value === 'string', 'a string')
  }

  number(name: string): number {
    return required(name, this.optionalNumber(name))
  }

  optionalNumber(name: string): number | undefined {
    return this.#read(name, (value) => typeof value === 'number', 'a number')
  }

  whole(name: string, bounds: Bounds): number {
    return wholeNumber(name, this.number(name), bounds)
  }

  optionalWhole(name: string, bounds: Bounds): number | undefined {
    return this.has(name) ? this.whole(name, bounds) : undefined
  }

  flag(name: string): boolean | undefined {
    return this.#read(name, (value) => typeof value === 'boolean', 'true or false')
  }

  texts(name: string): string[] {
    const isTexts = (value: unknown): value is string[] =>
      Array.isArray(value) && value.every((one) => typeof one === 'string')
    return this.#read(name, isTexts, 'a list of strings') ?? []
  }

  object(name: string): Record<string, unknown> {
    const isObject = (value: unknown): value is Record<string, unknown> =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
    return required(name, this.#read(name, isObject, 'an object'))
  }

  nested(name: string): Fields | undefined {
    return this.has(name) ? new Fields(this.object(name)) : undefined
  }

  bytes(name: string): Buffer | undefined {
    const value = this.optionalText(name)
    if (value === undefined) return undefined
    if (!/^[\w+/-]*={0,2}$/.test(value)) throw new ControlError(400, `"${name}" must be base64`)
    return Buffer.from(value, 'base64')
  }

  oneOf<T extends string>(name: string, choices: readonly T[], otherwise?: T): T {
    const value = this.optionalText(name) ?? otherwise
    const found = choices.find((one) => one === value)
    if (found === undefined) throw new ControlError(400, `"${name}" must be one of ${choices.join(', ')}`)
    return found
  }

  #read<T>(name: string, isIt: (value: unknown) => value is T, kind: string): T | undefined {
    const value = this.#values[name]
    if (value === undefined || value === null) return undefined
    if (!isIt(value)) throw new ControlError(400, `"${name}" must be ${kind}`)
    return value
  }
}

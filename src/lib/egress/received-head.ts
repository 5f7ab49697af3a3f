// The head of an answer: its status and its headers.

export type AnswerHead = {
  status: number
  /** Names are in lower case. A header that is repeated is a list. */
  headers: Record<string, string | string[] | undefined>
}

const lengthHeader = 'content-length'

/** Reads the headers when a caller asks for them: of most answers the status is enough. */
export class ReceivedHead implements AnswerHead {
  readonly status: number
  readonly #raw: readonly Buffer[]
  #headers: AnswerHead['headers'] | undefined

  constructor(status: number, raw: readonly Buffer[]) {
    this.status = status
    this.#raw = raw
  }

  get headers(): AnswerHead['headers'] {
    return (this.#headers ??= readHeaders(this.#raw))
  }
}

/** The length that the answer announces; 0 without one. */
export function announcedBytes(raw: readonly Buffer[]): number {
  for (let index = 0; index + 1 < raw.length; index += 2) {
    if (raw[index]?.length !== lengthHeader.length || nameAt(raw, index) !== lengthHeader) continue
    return Number(valueAt(raw, index))
  }
  return 0
}

function readHeaders(raw: readonly Buffer[]): AnswerHead['headers'] {
  const headers: AnswerHead['headers'] = {}
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = nameAt(raw, index)
    const value = valueAt(raw, index)
    const earlier = headers[name]
    headers[name] = earlier === undefined ? value : [earlier, value].flat()
  }
  return headers
}

function nameAt(raw: readonly Buffer[], index: number): string {
  return String(raw[index]?.toString('latin1')).toLowerCase()
}

function valueAt(raw: readonly Buffer[], index: number): string {
  return String(raw[index + 1]?.toString('latin1'))
}

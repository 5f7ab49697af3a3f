// A history that can never be read: its file is gone or its bytes are damaged.

export class HistoryError extends Error {
  constructor(reason: string, options?: { cause: unknown }) {
    super(reason, options)
    this.name = 'HistoryError'
  }
}

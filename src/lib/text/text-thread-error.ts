// The failure of a text whose thread ended twice while the text was converted. The text may be the cause, or the machine: a
// thread also ends when memory is short.

export class TextThreadError extends Error {
  constructor(options: { cause: unknown }) {
    super('the thread for long texts has ended twice during this text', options)
    this.name = 'TextThreadError'
  }
}

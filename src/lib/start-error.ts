// A reason why the service cannot start. The message is one sentence: it names the setting and the cure.

/** The process prints only the message: a person removes the cause, and no stack helps with that. */
export class StartError extends Error {
  constructor(sentence: string, options?: { cause: unknown }) {
    super(sentence, options)
    this.name = 'StartError'
  }
}

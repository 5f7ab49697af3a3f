// An error that ends a program of the terminal: one sentence that says what to do, and the exit code.

/** wrong: something is not as it should be · unasked: the service could not be asked · stopped: by Ctrl+C */
export const exitCodes = { ok: 0, wrong: 1, unasked: 2, stopped: 130 } as const

export class CliError extends Error {
  readonly exitCode: number

  constructor(sentence: string, exitCode: number = exitCodes.wrong, options?: ErrorOptions) {
    super(sentence, options)
    this.name = 'CliError'
    this.exitCode = exitCode
  }
}

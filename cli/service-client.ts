// Asks the running service over HTTP, and says in one sentence why it could not be asked.

import { loadConfig } from '../src/config/config.ts'
import { CliError, exitCodes } from './cli-error.ts'

export type Answer = { status: number; body: Record<string, unknown>; text: string }

type Options = { url: string; token: string; signal: AbortSignal; timeoutMs?: number }

const defaultTimeoutMs = 15_000

export class ServiceClient {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /** The answer of the service, also when it is a refusal. */
  async ask(method: string, path: string, body?: object): Promise<Answer> {
    const { status, text, isJson } = await this.#request(method, path, body)
    if (status === 401) throw new CliError(wrongToken, exitCodes.unasked)
    if (!isJson && status >= 400) throw new CliError(this.#stranger(), exitCodes.unasked)
    return { status, text, body: isJson ? parseObject(text) : {} }
  }

  /** The answer, if the service did what was asked. */
  async expect(method: string, path: string, body?: object): Promise<Answer> {
    const answer = await this.ask(method, path, body)
    if (answer.status < 400) return answer
    throw new CliError(sentenceOf(answer), answer.status >= 500 ? exitCodes.unasked : exitCodes.wrong)
  }

  async #request(method: string, path: string, body: object | undefined) {
    const { url, token, signal, timeoutMs = defaultTimeoutMs } = this.#options
    const headers = {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    }
    try {
      const answer = await fetch(new URL(path, url), {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      })
      const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false
      return { status: answer.status, text: await answer.text(), isJson }
    } catch (cause) {
      signal.throwIfAborted()
      const why = reasonOf(cause)
      throw new CliError(
        `No service answers at ${url} (${why}): start it with npm start, or name its address with --url.`,
        exitCodes.unasked,
        { cause },
      )
    }
  }

  #stranger(): string {
    return `What answers at ${this.#options.url} is not this service: name the address of the service with --url.`
  }
}

const wrongToken = 'The service refused the API token: set SERVICE_API_TOKEN as the service has it, for example in .env.'

type Environment = Readonly<Record<string, string | undefined>>

/** The service that these settings start on this machine, or the one at the given address. */
export function locateService(environment: Environment, url?: string): { url: string; token: string } {
  const { host, port, apiToken } = loadConfig(environment).http
  if (url !== undefined) return { url: parseUrl(url), token: apiToken }
  if (port === 0) throw new CliError('PORT is 0, so the port of the service is not known: name its address with --url.')
  const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return { url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`, token: apiToken }
}

function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).origin
  throw new CliError(`${text} is no address of a service: --url takes for example http://127.0.0.1:3100.`)
}

/** What the service says about a refusal. */
export function sentenceOf({ status, body }: Answer): string {
  return typeof body['error'] === 'string' ? body['error'] : `the service answered ${status}`
}

function parseObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'it took too long'
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && 'code' in cause) return String(cause.code)
  return error instanceof Error ? error.message : String(error)
}

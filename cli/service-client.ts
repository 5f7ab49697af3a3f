// Asks the running service over HTTP, and says in one sentence why it could not be asked.

import { loadConfig } from '../src/config/config.ts'
import { Egress } from '../src/lib/egress/egress.ts'
import { privateAllowed } from '../src/lib/egress/policy.ts'
import { CliError, exitCodes } from './cli-error.ts'

export type Answer = { status: number; body: Record<string, unknown>; text: string }

type Method = 'GET' | 'POST'

type Options = { url: string; token: string; signal: AbortSignal; timeoutMs: number }

export class ServiceClient {
  readonly #egress = new Egress({ policy: privateAllowed })
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /** The answer of the service, also when it is a refusal. */
  async ask(method: Method, path: string, body?: object): Promise<Answer> {
    const { status, text, isJson } = await this.#request(method, path, body)
    if (status === 401) throw new CliError(wrongToken, exitCodes.unasked)
    if (!isJson && status >= 400) throw new CliError(this.#stranger(), exitCodes.unasked)
    return { status, text, body: isJson ? parseObject(text) : {} }
  }

  /** The answer, if the service did what was asked. */
  async expect(method: Method, path: string, body?: object): Promise<Answer> {
    const answer = await this.ask(method, path, body)
    if (answer.status < 400) return answer
    throw new CliError(sentenceOf(answer), answer.status >= 500 ? exitCodes.unasked : exitCodes.wrong)
  }

  async #request(method: Method, path: string, body: object | undefined) {
    const { url, token, signal, timeoutMs } = this.#options
    const headers = {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    }
    try {
      const answer = await this.#egress.request({
        method,
        url: new URL(path, url),
        headers,
        ...(body && { body: JSON.stringify(body) }),
        timeoutMs,
        signal,
      })
      const isJson = String(answer.headers['content-type']).startsWith('application/json')
      return { status: answer.status, text: answer.text(), isJson }
    } catch (cause) {
      signal.throwIfAborted()
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new CliError(`The service does not answer: ${why}. ${startAdvice}`, exitCodes.unasked, { cause })
    }
  }

  #stranger(): string {
    return `What answers at ${this.#options.url} is not this service: name the address of the service with --url.`
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#egress[Symbol.asyncDispose]()
  }
}

const startAdvice = 'Start it with npm start, or name its address with --url.'
const wrongToken =
  'The service refused the API token: set SERVICE_API_TOKEN as the service has it, for example in .env.'

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

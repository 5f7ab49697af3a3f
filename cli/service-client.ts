// Asks the running service over HTTP, and says in one sentence why it could not be asked.

import { loadConfig } from '../src/config/config.ts'
import { Egress } from '../src/lib/egress/egress.ts'
import { privateAllowed } from '../src/lib/egress/policy.ts'
import { CliError, exitCodes } from './cli-error.ts'

export type Answer = { status: number; body: Record<string, unknown>; text: string }

/** `value` is undefined if the text is no JSON. */
type Received = { status: number; text: string; value: unknown }

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
    return this.#read(await this.#request(method, path, body))
  }

  /** A text, such as a QR code; undefined if the service has none. */
  async askText(path: string): Promise<string | undefined> {
    const received = await this.#request('GET', path)
    if (received.status === 200) return received.text
    this.#read(received)
    return undefined
  }

  /** The answer, if the service did what was asked. */
  async expect(method: Method, path: string, body?: object): Promise<Answer> {
    const answer = await this.ask(method, path, body)
    if (answer.status < 400) return answer
    throw new CliError(sentenceOf(answer), answer.status >= 500 ? exitCodes.unasked : exitCodes.wrong)
  }

  #read({ status, text, value }: Received): Answer {
    if (status === 401) throw new CliError(wrongToken, exitCodes.unasked)
    if (value === undefined) throw new CliError(this.#stranger(), exitCodes.unasked)
    const body = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
    return { status, text, body }
  }

  async #request(method: Method, path: string, body?: object): Promise<Received> {
    const answer = await this.#send(method, path, body)
    const { status, headers } = answer
    const { location } = headers
    if (status >= 300 && status < 400 && URL.canParse(String(location), this.#options.url)) {
      const { origin } = new URL(String(location), this.#options.url)
      const sentence = `${this.#options.url} leads to ${origin}: name that address with --url.`
      throw new CliError(sentence, exitCodes.unasked)
    }
    const isJson = String(headers['content-type']).startsWith('application/json')
    const text = answer.text()
    return { status, text, value: isJson ? parseJson(text) : undefined }
  }

  async #send(method: Method, path: string, body: object | undefined) {
    const { url, token, signal, timeoutMs } = this.#options
    const headers = {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    }
    try {
      return await this.#egress.request({
        method,
        url: new URL(path, url),
        headers,
        ...(body && { body: JSON.stringify(body) }),
        timeoutMs,
        signal,
      })
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

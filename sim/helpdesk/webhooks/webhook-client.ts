// Posts one webhook as Chatwoot does: a new connection, five seconds to connect, five seconds to read.

import { request as requestHttp, STATUS_CODES } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import type { SimClock } from '../../shiftable-clock.ts'
import { restClientWords, safeFetchWords } from './failure-words.ts'
import type { FailureWords } from './failure-words.ts'

export type WebhookCall = {
  url: string
  body: string
  headers: Record<string, string>
  timeoutMs: number
  allowPrivateNetwork: boolean
  /** True since 4.14.0. Before, RestClient posts the webhook: it follows no redirect and has other error texts. */
  safeFetch: boolean
  clock: SimClock
  signal: AbortSignal
}

const maxRedirects = 10
const maxAnswerBytes = 41_943_040

/** Resolves with the status of any 2xx. Rejects with the text that becomes external_error. */
export async function postWebhook(call: WebhookCall): Promise<number> {
  const words = call.safeFetch ? safeFetchWords : restClientWords
  let url = parseUrl(call.url)
  for (let hop = 0; hop <= maxRedirects; hop++) {
    if (call.safeFetch && !call.allowPrivateNetwork) refusePrivate(url)
    const { status, reason, location } = await post(call, url, words)
    if (status >= 200 && status < 300) return status
    const isRedirect = status >= 300 && status < 400 && location !== undefined
    if (!call.safeFetch || !isRedirect) throw new Error(`${status} ${reason || (STATUS_CODES[status] ?? '')}`)
    url = new URL(location, url)
  }
  throw new Error(`Got ${maxRedirects} redirects fetching ${call.url}`)
}

type Answer = { status: number; reason: string; location: string | undefined }

function post(call: WebhookCall, url: URL, words: FailureWords): Promise<Answer> {
  const { body, headers, timeoutMs, clock, signal } = call
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      method: 'POST',
      agent: false,
      signal,
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        'User-Agent': words.userAgent,
        'Content-Length': Buffer.byteLength(body),
        ...headers,
      },
    })
    const giveUp = (reason: string) => () => request.destroy(new Error(reason))
    let cancel = clock.after(timeoutMs, giveUp(words.openTimeout))
    const restart = () => {
      cancel()
      cancel = clock.after(timeoutMs, giveUp(words.readTimeout))
    }
    request.on('socket', (socket) => socket.on('connect', restart))
    request.on('response', (response) => {
      restart()
      const limit = call.safeFetch ? maxAnswerBytes : Infinity
      readToEnd(response, { restart, giveUp: giveUp(`exceeded ${maxAnswerBytes} bytes`), limit })
      response.on('end', () => {
        cancel()
        resolve(toAnswer(response))
      })
      response.on('error', reject)
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      cancel()
      reject(words.explain(error, url))
    })
    request.on('close', () => {
      cancel()
    })
    request.end(body)
  })
}

type Reading = { restart: () => void; giveUp: () => void; limit: number }

function readToEnd(response: IncomingMessage, { restart, giveUp, limit }: Reading): void {
  let read = 0
  response.on('data', (chunk: Buffer) => {
    restart()
    read += chunk.length
    if (read > limit) giveUp()
  })
}

function toAnswer(response: IncomingMessage): Answer {
  return {
    status: response.statusCode ?? 0,
    reason: response.statusMessage ?? '',
    location: response.headers.location,
  }
}

/** Ruby is stricter than Node: it repairs no blank and no backslash, and takes ASCII only. */
function parseUrl(text: string): URL {
  const url = /^[!-[\]-~]*$/.test(text) ? URL.parse(text) : null
  if (!url) throw new Error(`bad URI (is not URI?): ${JSON.stringify(text)}`)
  if (!/^https?:$/.test(url.protocol)) throw new Error('scheme must be http or https')
  return url
}

/** Recognises only literal addresses and localhost: the simulator resolves no names. */
function refusePrivate({ hostname }: URL): void {
  const bare = hostname.replace(/^\[|\]$/g, '')
  const isPrivate =
    bare === 'localhost' ||
    (isIP(bare) !== 0 && /^(127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|::1$|f[cd]|fe80)/i.test(bare))
  if (isPrivate) throw new Error(`Hostname '${bare}' has no public ip addresses`)
}

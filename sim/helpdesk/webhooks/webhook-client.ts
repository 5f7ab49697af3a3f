// Posts one webhook as Chatwoot does: a new connection, five seconds to connect, five seconds to read.

import { request as requestHttp } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import type { SimClock } from '../../shiftable-clock.ts'

export type WebhookCall = {
  url: string
  body: string
  headers: Record<string, string>
  timeoutMs: number
  allowPrivateNetwork: boolean
  clock: SimClock
  signal: AbortSignal
}

/** Resolves with the status of any 2xx. Rejects with the text that becomes external_error. */
export async function postWebhook(call: WebhookCall): Promise<number> {
  let url = parseUrl(call.url)
  for (let hop = 0; hop <= 10; hop++) {
    if (!call.allowPrivateNetwork) refusePrivate(url)
    const answer = await post(call, url)
    if (answer.status >= 200 && answer.status < 300) return answer.status
    if (answer.status < 300 || answer.status >= 400 || answer.location === undefined) {
      throw new Error(`${answer.status} ${answer.reason}`)
    }
    url = new URL(answer.location, url)
  }
  throw new Error('Got 10 redirects')
}

type Answer = { status: number; reason: string; location: string | undefined }

function post(call: WebhookCall, url: URL): Promise<Answer> {
  const { body, headers, timeoutMs, clock, signal } = call
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      method: 'POST',
      agent: false,
      signal,
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        'Content-Length': Buffer.byteLength(body),
        ...headers,
      },
    })
    const giveUp = (reason: string) => () => request.destroy(new Error(reason))
    let cancel = clock.after(timeoutMs, giveUp('Net::OpenTimeout'))
    const restart = () => {
      cancel()
      cancel = clock.after(timeoutMs, giveUp('Net::ReadTimeout with #<TCPSocket:(closed)>'))
    }
    request.on('socket', (socket) => socket.on('connect', restart))
    request.on('response', (response) => {
      restart()
      response.on('data', restart)
      response.on('end', () => {
        cancel()
        resolve(toAnswer(response))
      })
      response.on('error', reject)
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      cancel()
      reject(inRuby(error, url))
    })
    request.on('close', () => {
      cancel()
    })
    request.end(body)
  })
}

function toAnswer(response: IncomingMessage): Answer {
  return {
    status: response.statusCode ?? 0,
    reason: response.statusMessage ?? '',
    location: response.headers.location,
  }
}

function inRuby(error: NodeJS.ErrnoException, { hostname, port }: URL): Error {
  if (error.code === 'ECONNREFUSED') {
    const detail = `Connection refused - connect(2) for "${hostname}" port ${port}`
    return new Error(`Failed to open TCP connection to ${hostname}:${port} (${detail})`, { cause: error })
  }
  return error.code === 'ECONNRESET' ? new Error('end of file reached', { cause: error }) : error
}

function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(`Invalid webhook URL ${text}`)
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

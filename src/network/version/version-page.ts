// Reads the page on which the network names its newest client version, through the proxy if one is set.

import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Agent } from 'node:https'
import type { Clock } from '../../lib/clock.ts'
import type { Egress } from '../../lib/egress/egress.ts'
import { defaultUrl } from '../library/library.ts'

type Deps = {
  /** The WebSocket URL of another network; null for the real one. */
  url: string | null
  egress: Pick<Egress, 'request'>
  /** The proxy of the service. With a proxy, the page is never read directly. */
  agent: Agent | undefined
  clock: Clock
}

type Answer = { status: number; body: string }
type Method = 'GET' | 'HEAD'

const path = '/sw.js'
/** The host refuses a client that does not look like a browser. */
const headers = {
  'sec-fetch-site': 'none',
  'user-agent':
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
}
const answerMs = 10_000
const largestBytes = 4 * 1024 * 1024

export class VersionPage {
  readonly #deps: Deps
  readonly #url: URL

  constructor(deps: Deps) {
    this.#deps = deps
    this.#url = pageOf(deps.url ?? String(defaultUrl))
  }

  /** Rejects when the page cannot be read. */
  async read(signal: AbortSignal, agent = this.#deps.agent): Promise<string> {
    const { status, body } = await (agent ? this.#readThrough(agent, signal) : this.#readDirectly(signal))
    if (status !== 200) throw new Error(`${this.#url.host} answered with status ${status}`)
    return body
  }

  /** Resolves when the host answers, with any status. Rejects with the reason when it does not. */
  async reach(signal: AbortSignal, agent = this.#deps.agent): Promise<void> {
    await (agent ? this.#readThrough(agent, signal, 'HEAD') : this.#readDirectly(signal, 'HEAD'))
  }

  async #readDirectly(signal: AbortSignal, method: Method = 'GET'): Promise<Answer> {
    const url = this.#url
    const { egress, url: elsewhere } = this.#deps
    const limits = { timeoutMs: answerMs, maxResponseBytes: largestBytes, signal }
    const trusted = elsewhere === null ? {} : { trustedOrigin: url.origin }
    const answer = await egress.request({ method, url, headers, ...limits, ...trusted })
    return { status: answer.status, body: answer.text() }
  }

  async #readThrough(agent: Agent, stop: AbortSignal, method: Method = 'GET'): Promise<Answer> {
    const late = new AbortController()
    const cancel = this.#deps.clock.after(answerMs, () => {
      late.abort(new Error(`no answer within ${answerMs / 1000} s, through the proxy`))
    })
    const signal = AbortSignal.any([stop, late.signal])
    try {
      return await fetchThrough(this.#url, { agent, method, signal })
    } catch (cause) {
      throw late.signal.aborted ? (late.signal.reason as Error) : cause
    } finally {
      cancel()
    }
  }
}

/** The host that the connections go to, over http. */
function pageOf(socketUrl: string): URL {
  const url = new URL(path, socketUrl.replace(/^ws/, 'http'))
  url.username = ''
  url.password = ''
  return url
}

function fetchThrough(url: URL, through: { agent: Agent; method: Method; signal: AbortSignal }): Promise<Answer> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const asking = request(url, { ...through, headers }, (answer) => {
      collect(answer).then((body) => {
        resolve({ status: answer.statusCode ?? 0, body })
      }, reject)
    })
    asking.on('error', reject)
    asking.end()
  })
}

async function collect(answer: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer) {
    size += chunk.length
    if (size > largestBytes) throw new Error(`the page is longer than ${largestBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

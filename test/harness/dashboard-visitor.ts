// A person who is signed in to the dashboard. Sends the requests that a browser sends for the pages of the dashboard.

import assert from 'node:assert/strict'
import { assertDocumented } from './documented-statuses.ts'
import { requestFrom } from './http-request.ts'
import type { Answer } from './http-request.ts'
import { apiToken } from './service.ts'

type Visit = {
  body?: unknown
  /** Null leaves out a header that the browser would send. */
  headers?: Record<string, string | null>
}

export class DashboardVisitor {
  /** Name and value, as the browser sends them back. */
  cookie = ''
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  static async signIn(url: string, token = apiToken): Promise<DashboardVisitor> {
    const visitor = new DashboardVisitor(url)
    const { status, text } = await visitor.request('POST', '/api/session', { body: { token } })
    assert.equal(status, 200, text)
    return visitor
  }

  /** A cookie of the answer takes the place of the one before. */
  async request(method: string, path: string, { body, headers = {} }: Visit = {}): Promise<Answer> {
    const usual = {
      origin: new URL(this.#url).origin,
      'sec-fetch-site': 'same-origin',
      'x-causeway-dashboard': '1',
      ...(this.cookie !== '' && { cookie: this.cookie }),
    }
    const sent = Object.entries<string | null>({ ...usual, ...headers }).filter(([, value]) => value !== null)
    const answer = await requestFrom(this.#url, method, path, {
      headers: Object.fromEntries(sent) as Record<string, string>,
      ...(body !== undefined && { body }),
    })
    await assertDocumented(this.#url, { method, path, status: answer.status })
    const [given] = answer.headers.getSetCookie()
    if (given !== undefined) this.cookie = /Max-Age=0/.test(given) ? '' : (given.split(';')[0] ?? '')
    return answer
  }

  get(path: string, headers: Record<string, string | null> = {}): Promise<Answer> {
    return this.request('GET', path, { headers })
  }
}

// Which versions of clients the server accepts, and the page on which clients look up the newest version.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { defaultVersion, type proto } from '../library.ts'

const PAGE = '/sw.js'
/** How many logins are remembered. */
const KEPT = 100

export class ClientVersions {
  /** The revision that the page names. Undefined: the page cannot be had (503). */
  newest: number | undefined = defaultVersion[2]
  /** Clients with an older revision are refused with 405. */
  oldest = 0
  /** Revisions that are refused with 405 although they are new enough. */
  refused = new Set<number>()
  /** How often a client asked for the page. */
  questions = 0
  /** The revisions of the last logins, refused ones included. */
  readonly seen: number[] = []

  accepts({ userAgent }: proto.ClientPayload): boolean {
    const revision = userAgent?.appVersion?.tertiary ?? 0
    this.seen.push(revision)
    if (this.seen.length > KEPT) this.seen.shift()
    return revision >= this.oldest && !this.refused.has(revision)
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== 'GET' || request.url !== PAGE) {
      response.writeHead(404).end()
      return
    }
    this.questions += 1
    // The real host refuses a client that does not look like a browser.
    const isBrowser =
      request.headers['sec-fetch-site'] !== undefined && /Mozilla/.test(request.headers['user-agent'] ?? '')
    if (!isBrowser) response.writeHead(400).end()
    else if (this.newest === undefined) response.writeHead(503).end()
    else response.writeHead(200, { 'content-type': 'application/x-javascript' }).end(script(this.newest))
  }
}

/** The revision stands in a JSON text inside a string of the script, as on the real page. */
function script(revision: number): string {
  const data = JSON.stringify({ server_revision: 1, client_revision: revision, push_phase: 'C3' })
  return `/*FB_PKG_DELIM*/\nself.__swData=JSON.parse(${JSON.stringify(data)});\nself.skipWaiting();\n`
}

// Follows redirects. Before every hop it asks the caller where to go and which headers to send there.

import { EgressError } from './errors.ts'
import type { Egress, EgressRequest, StreamedAnswer } from './egress.ts'

type Hop = {
  /** Where to go: the address of the redirect, or another one instead. */
  url: URL
  /** Headers for this hop only, such as a token. */
  headers?: Record<string, string>
  trustedOrigin?: string | undefined
}

export type FollowRequest = Pick<EgressRequest, 'timeoutMs' | 'maxResponseBytes' | 'signal'> & {
  url: string | URL
  /** Called for the first address (hop 0) and for every redirect; undefined refuses. The policy is checked as well. */
  route(named: URL, hop: number): Hop | undefined
}

const maxRedirects = 5
const redirects: readonly number[] = [301, 302, 303, 307, 308]

/** A smaller body is read to its end, so that the connection can be used again. */
const worthReading = 16 * 1024

/** A GET; the time is for all hops together. The caller reads the body to its end or destroys it. */
export async function follow(egress: Egress, request: FollowRequest): Promise<StreamedAnswer & { url: URL }> {
  const { clock } = egress
  const { timeoutMs, maxResponseBytes, signal } = request
  const startedAt = clock.monotonic()
  let named = URL.parse(String(request.url))
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const target = named && request.route(named, hop)
    if (!target) throw refusal(named, hop)
    const answer = await egress.open({
      ...target,
      ...(maxResponseBytes === undefined ? {} : { maxResponseBytes }),
      signal,
      timeoutMs: Math.max(1, timeoutMs - (clock.monotonic() - startedAt)),
    })
    const location = redirects.includes(answer.status) ? answer.headers['location'] : undefined
    if (typeof location !== 'string') return { ...answer, url: target.url }
    leave(answer)
    named = URL.parse(location, target.url.href)
  }
  throw new EgressError('too_many_redirects', `more than ${maxRedirects} redirects`, { sent: 'nothing' })
}

function leave({ headers, body }: StreamedAnswer): void {
  if (Number(headers['content-length']) <= worthReading) body.resume()
  else body.destroy()
}

function refusal(named: URL | null, hop: number): EgressError {
  const what = hop === 0 ? 'the address' : 'a redirect'
  const host = named === null ? 'is not a URL' : `to ${named.host} is not followed`
  return new EgressError('refused', `${what} ${host}`, { sent: 'nothing' })
}

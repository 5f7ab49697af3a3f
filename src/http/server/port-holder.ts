// Asks the program that holds a port whether it is another Causeway.

import { get } from 'node:http'
import { isIPv6 } from 'node:net'

export type HostAndPort = { host: string; port: number }

const answerMs = 2000
/** Health is much shorter. Another program may answer with anything. */
const longestAnswer = 64 * 1024

/** Undefined when the program does not answer, or is not ours. */
export async function findPortHolder({ host, port }: HostAndPort): Promise<{ version: string } | undefined> {
  try {
    return readVersion(await askHealth(`http://${reachable(host)}:${port}/api/health`))
  } catch {
    return undefined
  }
}

/** A server that listens on all addresses also listens on the loopback address. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return isIPv6(host) ? `[${host}]` : host
}

function askHealth(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { signal: AbortSignal.timeout(answerMs), agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        body += chunk
        if (body.length > longestAnswer) request.destroy(new Error('the answer is too long'))
      })
      response.on('end', () => {
        resolve(body)
      })
      response.on('error', reject)
    })
    request.on('error', reject)
  })
}

/** Health of this service has a version and says who owns the accounts. */
function readVersion(body: string): { version: string } | undefined {
  const { version, checks } = JSON.parse(body) as { version?: unknown; checks?: { ownership?: unknown } }
  return typeof version === 'string' && typeof checks?.ownership === 'string' ? { version } : undefined
}

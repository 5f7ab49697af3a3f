// Downloads files from the network's media hosts, through the proxy if one is set.

import { request } from 'node:https'
import type { Agent } from 'node:https'
import { pipeline } from 'node:stream'
import type { Readable } from 'node:stream'
import type { FileRef } from '../../core/message.ts'
import { FileError } from '../../core/network.ts'
import type { Egress } from '../../lib/egress/egress.ts'
import { FileOpener } from './open-file.ts'

type Answer = { status: number; body: Readable }
type Fetch = (url: URL, signal: AbortSignal) => Promise<Answer>

export type FileSource = {
  egress: Pick<Egress, 'open'>
  /** The proxy's agent. With a proxy, no file is fetched directly. */
  agent: Agent | undefined
  /** True for a simulated network, whose files may be on any host. */
  isElsewhere: boolean
}

const usualHost = 'mmg.whatsapp.net'
const knownHosts = /(^|\.)(whatsapp\.net|fbcdn\.net)$/
const answerMs = 30_000
/** More than the network allows for a file. */
const largestBytes = 3 * 1024 ** 3
const goneStatuses = new Set([404, 410])

/** The stream fails at its end if the bytes are damaged, so the caller must not use them before. */
export async function downloadFile(file: FileRef, source: FileSource, signal: AbortSignal): Promise<Readable> {
  const opener = new FileOpener(file)
  const body = await openUrl(fileUrl(file, source), source, signal)
  const plain = pipeline(body, opener, () => undefined)
  // The stream may fail before the caller listens. Without this listener that would end the process; the caller still
  // gets the error when it reads.
  plain.on('error', () => undefined)
  return plain
}

/** The bytes as the host has them. */
export async function openUrl(url: URL, source: FileSource, signal: AbortSignal): Promise<Readable> {
  const fetch = source.agent ? throughProxy(source.agent) : directly(source)
  const { status, body } = await fetch(url, signal).catch((cause: unknown) => {
    throw new FileError(false, 'the file could not be fetched', { cause })
  })
  if (status === 200) return body
  body.destroy()
  throw new FileError(goneStatuses.has(status), `the host of the file answered ${status}`)
}

type Place = Pick<FileRef, 'url' | 'directPath'>

/** A message may name any host. Only the network's own hosts are asked. */
export function fileUrl({ url, directPath }: Place, { isElsewhere }: Pick<FileSource, 'isElsewhere'>): URL {
  const stated = url === null ? null : URL.parse(url)
  const host = stated && (isElsewhere || isKnown(stated)) ? stated.host : usualHost
  const path = directPath ?? (stated && `${stated.pathname}${stated.search}`)
  const place = path === null ? null : URL.parse(`https://${host}${path.startsWith('/') ? path : `/${path}`}`)
  if (place?.host !== host) throw new FileError(false, 'the message does not say where its file is')
  return place
}

function isKnown({ protocol, hostname, port }: URL): boolean {
  return protocol === 'https:' && port === '' && knownHosts.test(hostname)
}

const headers = { origin: 'https://web.whatsapp.com' }

function directly({ egress, isElsewhere }: FileSource): Fetch {
  return (url, signal) => {
    const trusted = isElsewhere ? { trustedOrigin: url.origin } : {}
    return egress.open({ url, headers, timeoutMs: answerMs, maxResponseBytes: largestBytes, signal, ...trusted })
  }
}

function throughProxy(agent: Agent): Fetch {
  return (url, signal) =>
    new Promise((resolve, reject) => {
      const asking = request(url, { agent, headers, signal, timeout: answerMs }, (answer) => {
        resolve({ status: answer.statusCode ?? 0, body: answer })
      })
      asking.on('timeout', () => asking.destroy(new Error(`no answer within ${answerMs} ms`)))
      asking.on('error', reject)
      asking.end()
    })
}

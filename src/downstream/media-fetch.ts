// Fetches a file that an agent attached, hop by hop: from Chatwoot itself, or from the storage it redirects to. Also fetches a
// file that a program names; no private address is trusted for it.

import { Readable } from 'node:stream'
import { DownstreamError } from '../core/downstream.ts'
import type { DownloadedFile } from '../core/downstream.ts'
import { writeReason } from '../core/reasons/reason.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Egress, StreamedAnswer } from '../lib/egress/egress.ts'
import { EgressError } from '../lib/egress/errors.ts'
import { follow } from '../lib/egress/follow.ts'
import { mimeByContent, sniffBytes } from '../lib/mime-by-content.ts'
import { fileNameOf } from './file-name.ts'

type Deps = { egress: Egress; clock: Clock; timeoutMs: number; maxBytes: number }
/** `origin` is where Chatwoot is; null when the file is not one of Chatwoot. */
type Wanted = { origin: string | null; url: string; signal: AbortSignal }

/** Chatwoot sends the callback of a message before it has stored the file. */
const notYetForMs = 20_000
const pausesMs = [250, 500, 1000, 2000]

export async function fetchMedia(deps: Deps, wanted: Wanted): Promise<DownloadedFile> {
  const { clock } = deps
  const giveUpAt = clock.monotonic() + notYetForMs
  for (let attempt = 0; ; attempt++) {
    const { status, url, ...answer } = await followed(deps, wanted)
    if (status >= 200 && status < 300) return toFile(deps, answer, url)
    answer.body.destroy()
    const pause = pausesMs[attempt] ?? 2000
    if (status !== 404 || wanted.origin === null || clock.monotonic() + pause > giveUpAt) throw refused(status, url)
    await sleep(clock, pause, wanted.signal)
    if (wanted.signal.aborted) throw explained(deps, abandoned())
  }
}

async function followed(deps: Deps, { origin, url, signal }: Wanted): Promise<StreamedAnswer & { url: URL }> {
  const { egress, timeoutMs, maxBytes: maxResponseBytes } = deps
  const route = (named: URL) =>
    origin === null ? { url: named } : { url: homeward(named, origin), trustedOrigin: origin }
  try {
    return await follow(egress, { url, route, timeoutMs, maxResponseBytes, signal })
  } catch (error) {
    throw explained(deps, error)
  }
}

/** Chatwoot names its own files by FRONTEND_URL, which need not be reachable from here. */
function homeward(url: URL, origin: string): URL {
  return url.pathname.startsWith('/rails/active_storage/') ? new URL(url.pathname + url.search, origin) : url
}

type Found = Pick<StreamedAnswer, 'headers' | 'body'>

async function toFile(deps: Deps, { headers, body }: Found, url: URL): Promise<DownloadedFile> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const head = await readHead(deps, chunks)
  const size = Number(headers['content-length'] ?? NaN)
  async function* all() {
    yield* head
    for (;;) {
      const next = await nextOf(deps, chunks)
      if (next.done) return
      yield next.value
    }
  }
  const stream = Readable.from(all(), { objectMode: false })
  // Readable.from ends its source only after the first read.
  stream.once('close', () => body.destroy())
  return {
    stream,
    mimeType: mimeByContent(Buffer.concat(head), plainType(headers['content-type'])),
    fileName: fileNameOf([headers['content-disposition']].flat()[0], url),
    size: Number.isSafeInteger(size) ? size : null,
  }
}

/** Reads enough of the file to tell its type. */
async function readHead(deps: Deps, chunks: AsyncIterator<Buffer>): Promise<Buffer[]> {
  const head: Buffer[] = []
  for (let bytes = 0; bytes < sniffBytes;) {
    const next = await nextOf(deps, chunks)
    if (next.done) break
    head.push(next.value)
    bytes += next.value.length
  }
  return head
}

async function nextOf(deps: Deps, chunks: AsyncIterator<Buffer>): Promise<IteratorResult<Buffer, unknown>> {
  try {
    return await chunks.next()
  } catch (error) {
    throw explained(deps, error)
  }
}

function plainType(header: string | string[] | undefined): string | null {
  const type = [header].flat()[0]?.split(';')[0]?.trim().toLowerCase()
  return type === undefined || type === '' ? null : type
}

function explained({ maxBytes }: Deps, error: unknown): unknown {
  if (!(error instanceof EgressError)) return error
  if (error.reason === 'too_large') {
    return permanent(writeReason('fileTooLarge', { bytes: maxBytes }), error)
  }
  if (error.reason === 'refused' || error.reason === 'too_many_redirects') {
    return permanent(writeReason('fileForbidden', { reason: error.message }), error)
  }
  return new DownstreamError('transient', writeReason('fileUnfetched', { reason: error.message }), { cause: error })
}

function refused(status: number, { origin }: URL): DownstreamError {
  if (status === 404) return new DownstreamError('gone', writeReason('fileMissing', { origin }), { status })
  const isTransient = status === 408 || status === 425 || status === 429 || status >= 500
  const reason = writeReason('fileRefused', { origin, status })
  return new DownstreamError(isTransient ? 'transient' : 'permanent', reason, { status })
}

function permanent(reason: string, cause: unknown): DownstreamError {
  return new DownstreamError('permanent', reason, { cause })
}

function abandoned(): EgressError {
  return new EgressError('aborted', 'it is not wanted any more', { sent: 'nothing' })
}

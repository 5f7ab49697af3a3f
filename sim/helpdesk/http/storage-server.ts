// The object storage on its own port: it serves presigned addresses, and a new file only after its delay.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse } from './office.ts'
import type { Office } from './office.ts'
import { isOpen } from './signed-address.ts'

export function answerAsStorage(office: Office): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const { method = '', url: path = '', headers } = request
    if (headers['api-access-token'] !== undefined || headers['api_access_token'] !== undefined) {
      refuse(office, { kind: 'leaked_token', method, path, reason: 'the API token was sent to the storage host' })
    }
    const key = /^\/bucket\/([^/?]+)/.exec(path)?.[1] ?? ''
    sendFile(office, key, request, response)
  }
}

export function sendFile({ desk }: Office, key: string, request: IncomingMessage, response: ServerResponse): void {
  const query = new URL(request.url ?? '', 'http://storage').searchParams
  if (!isOpen(query, key, desk.clock.now())) {
    response.writeHead(403, { 'Content-Type': 'application/xml' }).end('<Error><Code>AccessDenied</Code></Error>')
    return
  }
  const blob = desk.state.blobs.get(key)
  if (!blob || blob.storedAt > desk.clock.now()) {
    response.writeHead(404, { 'Content-Type': 'application/xml' }).end('<Error><Code>NoSuchKey</Code></Error>')
    return
  }
  const range = rangeOf(request, blob.bytes.length)
  const part = blob.bytes.subarray(range.from, range.to + 1)
  response.writeHead(range.isPart ? 206 : 200, {
    'Content-Type': blob.contentType,
    'Content-Length': part.length,
    'Content-Disposition': disposition(blob.filename),
    ...(range.isPart ? { 'Content-Range': `bytes ${range.from}-${range.to}/${blob.bytes.length}` } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : part)
}

function rangeOf({ headers }: IncomingMessage, length: number): { from: number; to: number; isPart: boolean } {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? []
  if (from === undefined || Number(from) >= length) return { from: 0, to: length - 1, isPart: false }
  return { from: Number(from), to: to ? Math.min(Number(to), length - 1) : length - 1, isPart: true }
}

/** The name in plain letters for old clients, and as it is. */
function disposition(filename: string): string {
  const plain = filename
    .normalize('NFD')
    .replaceAll('ß', 'ss')
    .replace(/\p{M}/gu, '')
    .replace(/[^ -~]/g, '?')
  return `inline; filename="${plain.replaceAll('"', '%22')}"; filename*=UTF-8''${encodeURIComponent(filename)}`
}

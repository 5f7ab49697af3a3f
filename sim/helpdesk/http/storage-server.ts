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
  response.writeHead(200, {
    'Content-Type': blob.contentType,
    'Content-Length': blob.bytes.length,
    'Content-Disposition': `inline; filename*=UTF-8''${encodeURIComponent(blob.filename)}`,
  })
  response.end(request.method === 'HEAD' ? undefined : blob.bytes)
}

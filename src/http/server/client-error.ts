// Answers when the HTTP parser refuses before there is a request: broken syntax, slow or oversized headers.

import type { Socket } from 'node:net'
import { STATUS_CODES } from 'node:http'
import { statusOfCode } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/errors.ts'

const refusals: Record<string, { code: ErrorCode; error: string }> = {
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'SERVICE_REQUEST_TIMEOUT', error: 'the request did not arrive in time' },
  HPE_HEADER_OVERFLOW: { code: 'SERVICE_HEADERS_TOO_LARGE', error: 'the headers are too large' },
}
/** How long the client may take to read the refusal. Without an end, a client that never closes keeps a descriptor. */
const lingerMs = 1000

const malformed = { code: 'SERVICE_BAD_REQUEST', error: 'this is not a well-formed HTTP request' } as const

export function answerClientError(cause: Error & { code?: string }, socket: Socket): void {
  if (cause.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { code, error } = refusals[cause.code ?? ''] ?? malformed
  const status = statusOfCode[code]
  const body = JSON.stringify({ error, error_code: code })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  const linger = setTimeout(() => {
    socket.destroy()
  }, lingerMs)
  socket.once('close', () => {
    clearTimeout(linger)
  })
}

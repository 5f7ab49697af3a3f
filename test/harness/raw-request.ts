// Sends bytes that no HTTP library would, and reads what comes back.

import { connect } from 'node:net'
import type { Answer } from './http-request.ts'

/** Sends the bytes and reads until the server closes the connection. */
export function sendRaw(url: string, bytes: string | Uint8Array): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => {
      resolve(text)
    })
  })
}

type Request = { method?: string; path: string; headers?: Record<string, string>; body?: string | Uint8Array }

/** One request with any method, path, header or body, on a connection of its own. */
export async function requestRaw(
  url: string,
  { method = 'GET', path, headers = {}, body = '' }: Request,
): Promise<Answer> {
  const content = Buffer.from(body)
  const lines = Object.entries({
    host: 'x',
    connection: 'close',
    ...(content.length > 0 && { 'content-length': String(content.length) }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  return parse(await sendRaw(url, Buffer.concat([head, content])))
}

function parse(answer: string): Answer {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const [status = '', ...lines] = head.split('\r\n')
  const text = rest.join('\r\n\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => [line.split(': ', 1)[0] ?? '', line.replace(/^[^:]*: /, '')]),
  )
  const isJson = headers.get('content-type')?.startsWith('application/json') && text !== ''
  return { status: Number(status.split(' ')[1]), headers, text, body: isJson ? JSON.parse(text) : undefined }
}

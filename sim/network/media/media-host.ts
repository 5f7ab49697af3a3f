// The media host: stores encrypted uploads and serves them over https, or refuses them as real hosts do.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { SeededRandom } from '../seeded-random.ts'
import type { CertificateAuthority } from './certificate-authority.ts'

/** A fault of a stored file: gone for good, too old, cut off half-way, or changed. */
export type MediaTrouble = 'missing' | 'expired' | 'cut' | 'corrupt' | 'stalled'
export type StoredMedia = { url: string; directPath: string }
/** A function makes the file anew for each download, so that the host does not hold it. */
export type FileSource = Buffer | (() => Buffer)
type Blob = { source: FileSource; type: string; trouble: MediaTrouble | undefined }

export class MediaHost {
  readonly #random: SeededRandom
  readonly #server: Server
  readonly #blobs = new Map<string, Blob>()
  uploads = 0
  /** How many files the host has sent, and how many connections clients have opened. */
  downloads = 0
  connections = 0
  /** How many of the next uploads the host refuses. */
  refusedUploads = 0

  constructor(authority: CertificateAuthority, random: SeededRandom) {
    this.#random = random
    this.#server = createServer(authority.loopbackServer(), (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error))
      })
    })
    this.#server.on('connection', () => (this.connections += 1))
  }

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  get host(): string {
    return `localhost:${(this.#server.address() as AddressInfo | null)?.port ?? 0}`
  }

  put(source: FileSource, type = 'application/octet-stream'): StoredMedia {
    const directPath = `/v/t62/${this.#random.hex(12)}.enc?ccb=1&oh=${this.#random.hex(6)}`
    this.#blobs.set(directPath, { source, type, trouble: undefined })
    return { url: `https://${this.host}${directPath}`, directPath }
  }

  get(directPath: string): Buffer | undefined {
    const blob = this.#blobs.get(directPath)
    return blob && contentOf(blob)
  }

  /** Gives this file a fault. Undefined removes the fault. */
  trouble(directPath: string, trouble: MediaTrouble | undefined): void {
    const blob = this.#blobs.get(directPath)
    if (!blob) throw new Error(`there is no ${directPath} on the media host`)
    blob.trouble = trouble
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'POST') await this.#upload(request, response)
    else this.#download(request, response)
  }

  /** The last part of the path is the hash of the upload. Like a real host, this one checks the hash. */
  async #upload(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const bytes = Buffer.concat(chunks)
    if (this.refusedUploads > 0) {
      this.refusedUploads -= 1
      response.writeHead(503).end(JSON.stringify({ error: 'simulated fault' }))
      return
    }
    const hash = createHash('sha256').update(bytes).digest('base64url')
    const named = decodeURIComponent(new URL(request.url ?? '/', 'https://localhost').pathname.split('/').at(-1) ?? '')
    if (named !== hash) {
      response.writeHead(400).end(JSON.stringify({ error: 'the file does not have the hash it was announced with' }))
      return
    }
    this.uploads += 1
    const { url, directPath } = this.put(bytes)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ url, direct_path: directPath }))
  }

  #download(request: IncomingMessage, response: ServerResponse): void {
    const blob = this.#blobs.get(request.url ?? '/')
    if (!blob || blob.trouble === 'missing') response.writeHead(404).end()
    else if (blob.trouble === 'expired') response.writeHead(410).end()
    else if (blob.trouble === 'stalled') response.writeHead(200, { 'content-type': blob.type }).flushHeaders()
    else if (blob.trouble === 'cut') cutOff(response, contentOf(blob))
    else {
      this.downloads += 1
      const bytes = blob.trouble === 'corrupt' ? corrupted(contentOf(blob)) : contentOf(blob)
      const start = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? '0')
      response.writeHead(start > 0 ? 206 : 200, { 'content-type': blob.type, 'content-length': bytes.length - start })
      response.end(bytes.subarray(start))
    }
  }
}

function contentOf({ source }: Blob): Buffer {
  return typeof source === 'function' ? source() : source
}

function cutOff(response: ServerResponse, bytes: Buffer): void {
  response.writeHead(200, { 'content-length': bytes.length })
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => {
    response.destroy()
  })
}

function corrupted(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy[0] = (copy[0] ?? 0) ^ 0xff
  return copy
}

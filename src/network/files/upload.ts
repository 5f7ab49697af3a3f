// Uploads a sealed file to one of the network's media hosts, through the proxy if one is set.
//
// It does not use fetch, because fetch keeps a streamed body in memory.

import { request } from 'node:https'
import type { Agent } from 'node:https'
import { pipeline } from 'node:stream/promises'
import type { FileRef } from '../../core/message.ts'
import { SendError } from '../../core/network.ts'
import { writeReason } from '../../core/reasons/reason.ts'
import type { Clock } from '../../lib/clock.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { MediaHosts } from './media-hosts.ts'
import type { SealedFile } from './seal-file.ts'

type Deps = { hosts: MediaHosts; agent: Agent | undefined; clock: Clock; gone: AbortSignal }
type Uploaded = { url: string; directPath: string }
type Answer = { status: number; body: string }

const paths: Record<FileRef['kind'], string> = {
  image: 'image',
  sticker: 'image',
  video: 'video',
  audio: 'audio',
  document: 'document',
}
const headers = { 'content-type': 'application/octet-stream', origin: 'https://web.whatsapp.com' }
/** How long a host may neither take a byte nor answer. */
const stalledMs = 30_000
const answerBytes = 64 * 1024
const expired = new Set([401, 403])
const tooLarge = 413

export class MediaUpload {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Tries one host after the other. If the access has expired, it asks for a new one and tries all hosts once more. */
  async upload(file: SealedFile, kind: FileRef['kind']): Promise<Uploaded> {
    const { hosts } = this.#deps
    let failure: unknown
    for (let round = 0; round < 2; round++) {
      const access = await hosts.get()
      let isExpired = false
      for (const host of access.hosts) {
        try {
          const answer = await this.#post(addressOf(host, access.auth, kind, file), file)
          if (answer.status === tooLarge)
            throw new SendError('refused', writeReason('uploadTooLarge'), { code: tooLarge })
          if (answer.status === 200) return uploadedOf(answer)
          isExpired ||= expired.has(answer.status)
          failure = new Error(`the media host answered with status ${answer.status}`)
        } catch (cause) {
          if (cause instanceof SendError || this.#deps.gone.aborted) throw cause
          failure = cause
        }
      }
      if (!isExpired) break
      hosts.forget()
    }
    throw failure instanceof Error ? failure : new Error('no media host took the file')
  }

  async #post(url: URL, file: SealedFile): Promise<Answer> {
    const { agent, clock, gone } = this.#deps
    const stalled = new AbortController()
    const signal = AbortSignal.any([gone, stalled.signal])
    let cancel = () => {}
    const progress = () => {
      cancel()
      cancel = clock.after(stalledMs, () => {
        stalled.abort(new Error(`the media host did not go on for ${stalledMs / 1000} s`))
      })
    }
    const length = { 'content-length': file.sealedSize }
    const sending = request(url, { method: 'POST', headers: { ...headers, ...length }, agent, signal })
    const answered = new Promise<Answer>((resolve, reject) => {
      sending.on('error', reject)
      sending.on('response', (response) => {
        collect(response, progress).then((body) => {
          resolve({ status: response.statusCode ?? 0, body })
        }, reject)
      })
    })
    try {
      progress()
      const body = file.open()
      body.on('data', progress)
      // Only the answer counts. A host may answer and hang up before it has taken all bytes.
      pipeline(body, sending).catch(ignoreRejection)
      return await answered.catch((cause: unknown) => {
        throw stalled.signal.aborted ? (stalled.signal.reason as Error) : cause
      })
    } finally {
      cancel()
      sending.destroy()
    }
  }
}

function addressOf(host: string, auth: string, kind: FileRef['kind'], { encSha256 }: SealedFile): URL {
  const token = encSha256.toString('base64url')
  const url = new URL(`https://${host}/mms/${paths[kind]}/${token}`)
  url.searchParams.set('auth', auth)
  url.searchParams.set('token', token)
  return url
}

function uploadedOf({ body }: Answer): Uploaded {
  const { url, direct_path: directPath } = JSON.parse(body) as { url?: unknown; direct_path?: unknown }
  if (typeof url === 'string' && typeof directPath === 'string') return { url, directPath }
  throw new Error('the media host did not say where the file is')
}

async function collect(response: AsyncIterable<Buffer>, progress: () => void): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    progress()
    size += chunk.length
    if (size > answerBytes) throw new Error('the answer of the media host is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

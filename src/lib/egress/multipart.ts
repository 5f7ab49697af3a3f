// Writes multipart/form-data as a stream: files pass through and are never held in memory as a whole.

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { noteBufferGarbage } from '../buffer-garbage.ts'
import { ignoreRejection } from '../ignore.ts'

type FieldPart = { name: string; value: string }

export type FilePart = {
  name: string
  filename: string
  type: string
  content: Uint8Array | AsyncIterable<Uint8Array>
  /** Length of a stream, when it is known. */
  bytes?: number
}

export type Part = FieldPart | FilePart

/** A form as a request needs it; the type belongs into the headers. */
export type MultipartBody = { contentType: string; body: Readable; bodyBytes: number | undefined }

type Section = { head: Buffer; content: FilePart['content']; bytes: number | undefined }

const lineBreak = Buffer.from('\r\n')

export function multipart(parts: readonly Part[]): MultipartBody {
  const boundary = `part-${randomUUID()}`
  const sections = parts.map((part) => sectionOf(part, boundary))
  const end = Buffer.from(`--${boundary}--\r\n`)
  let bodyBytes: number | undefined = end.length
  for (const { head, bytes } of sections) {
    if (bytes === undefined) bodyBytes = undefined
    else if (bodyBytes !== undefined) bodyBytes += head.length + bytes + lineBreak.length
  }
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: new PartStream(sections, end), bodyBytes }
}

class PartStream extends Readable {
  readonly #sources: Readable[]
  readonly #chunks: AsyncGenerator<Uint8Array, void>

  constructor(sections: readonly Section[], end: Buffer) {
    super()
    this.#chunks = chunksOf(sections, end)
    this.#sources = sections.flatMap(({ content }) => (content instanceof Readable ? [content] : []))
    // A source may fail long before it is read.
    for (const source of this.#sources) source.on('error', (error) => this.destroy(error))
  }

  override _read(): void {
    this.#chunks.next().then(
      ({ value, done }) => {
        if (value) noteBufferGarbage(value.length)
        this.push(done ? null : value)
      },
      (error: unknown) => this.destroy(error as Error),
    )
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // The sources first, because the generator may be waiting for one of them.
    for (const source of this.#sources) source.destroy()
    this.#chunks.return().catch(ignoreRejection)
    done(error)
  }
}

async function* chunksOf(sections: readonly Section[], end: Buffer): AsyncGenerator<Uint8Array, void> {
  for (const { head, content } of sections) {
    yield head
    if (content instanceof Uint8Array) yield content
    else yield* content
    yield lineBreak
  }
  yield end
}

function sectionOf(part: Part, boundary: string): Section {
  const opening = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(part.name)}"`
  if ('value' in part) {
    const content = Buffer.from(part.value)
    return { head: Buffer.from(`${opening}\r\n\r\n`), content, bytes: content.length }
  }
  const { content } = part
  const head = Buffer.from(`${opening}; ${filenameParameters(part.filename)}\r\nContent-Type: ${typeOf(part)}\r\n\r\n`)
  return { head, content, bytes: content instanceof Uint8Array ? content.length : part.bytes }
}

function quoted(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

// Rack decodes percent signs in a plain file name and finds parameters inside of it. It prefers the encoded form, which has
// neither; other servers see a readable replacement.
function filenameParameters(filename: string): string {
  // Rack treats a part with an empty file name as a form in which no file was chosen.
  const name = filename.toWellFormed() || 'file'
  const plain = `filename="${name.replace(/[^A-Za-z0-9._ -]/g, '_')}"`
  if (/^[A-Za-z0-9._ -]+$/.test(name)) return plain
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
  return `${plain}; filename*=UTF-8''${encoded}`
}

function typeOf({ type }: FilePart): string {
  return /^[\x21-\x7e][\x20-\x7e]*$/.test(type) ? type : 'application/octet-stream'
}

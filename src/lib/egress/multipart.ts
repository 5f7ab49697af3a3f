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
  const filename = `filename="${quotedFileName(part.filename)}"`
  const head = Buffer.from(`${opening}; ${filename}\r\nContent-Type: ${typeOf(part)}\r\n\r\n`)
  return { head, content, bytes: content instanceof Uint8Array ? content.length : part.bytes }
}

/** As browsers write it: UTF-8, with the characters that would end the value in percent form. */
function quoted(text: string): string {
  return text.replace(/["\r\n\\]/g, percentForm)
}

// No `filename*`: Chatwoot 4.3.0 ignores it. Rack turns percent forms back when each percent sign of a name begins one.
// A percent sign of the name itself would then be lost, so it takes the percent form as well.
function quotedFileName(filename: string): string {
  // Chatwoot answers 200 and drops a file whose name is empty.
  const name = filename.trim() === '' ? 'file' : filename.toWellFormed()
  const plain = quoted(name)
  const isDecoded = (plain.match(/%.?.?/g) ?? []).every((sign) => /^%[0-9a-f]{2}$/i.test(sign))
  return isDecoded || plain !== name ? quoted(name.replaceAll('%', '%25')) : name
}

function percentForm(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

function typeOf({ type }: FilePart): string {
  return /^[\x21-\x7e][\x20-\x7e]*$/.test(type) ? type : 'application/octet-stream'
}

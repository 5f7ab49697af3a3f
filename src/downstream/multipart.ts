// A form with files, streamed part by part: no file is ever held in memory whole.

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { UploadFile } from '../core/downstream.ts'

export type MultipartBody = {
  contentType: string
  stream: Readable
  /** Undefined when the size of a file is not known. */
  bytes: number | undefined
}

type Fields = Record<string, string>

export function multipart(fields: Fields, fileField: string, files: readonly UploadFile[]): MultipartBody {
  const boundary = `causeway-${randomUUID()}`
  const head = Buffer.from(
    Object.entries(fields)
      .map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
      .join(''),
  )
  const parts = files.map((file) => ({ file, head: Buffer.from(fileHead(boundary, fileField, file)) }))
  const tail = Buffer.from(`--${boundary}--\r\n`)
  const sizes = parts.map(({ file, head: { length } }) => (file.size === null ? NaN : length + file.size + 2))
  const bytes = sizes.reduce((sum, size) => sum + size, head.length + tail.length)
  async function* write() {
    yield head
    for (const part of parts) {
      yield part.head
      const source = await part.file.open()
      yield* source as AsyncIterable<Buffer>
      yield Buffer.from('\r\n')
    }
    yield tail
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    stream: Readable.from(write(), { objectMode: false }),
    bytes: Number.isNaN(bytes) ? undefined : bytes,
  }
}

function fileHead(boundary: string, field: string, { fileName, mimeType }: UploadFile): string {
  const name = fileName.replace(/["\\]/g, '_').replace(/\p{Cc}/gu, ' ')
  const type = /^[\w.+-]+\/[\w.+-]+(;[\x20-\x7e]*)?$/.test(mimeType) ? mimeType : 'application/octet-stream'
  return [
    `--${boundary}`,
    `Content-Disposition: form-data; name="${field}"; filename="${name}"`,
    `Content-Type: ${type}`,
    '\r\n',
  ].join('\r\n')
}

// Splits a multipart body into text fields and files.

import { UploadedFile } from '../desk/uploaded-file.ts'

const blankLine = Buffer.from('\r\n\r\n')

class MalformedMultipart extends Error {
  readonly statusCode = 400
}

/** Old versions of Rack ignore `filename*`. */
export function parseMultipart(contentType: string, body: Buffer, extendedNames = true): [string, unknown][] {
  const [, quoted, bare] = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? bare
  if (boundary === undefined) throw new MalformedMultipart('the content type names no boundary')
  const parts = splitAt(body, Buffer.from(`--${boundary}`))
  return parts.map((part) => parsePart(part, extendedNames)).filter((field) => field !== undefined)
}

/** The parts between the boundaries, without the line breaks around them. */
function splitAt(body: Buffer, boundary: Buffer): Buffer[] {
  const separator = Buffer.concat([Buffer.from('\r\n'), boundary])
  const parts: Buffer[] = []
  let from = body.indexOf(boundary) + boundary.length
  if (from < boundary.length) throw new MalformedMultipart('the boundary does not occur in the body')
  while (body.toString('latin1', from, from + 2) !== '--') {
    const end = body.indexOf(separator, from)
    if (end < 0) throw new MalformedMultipart('the body breaks off inside a part')
    parts.push(body.subarray(from + 2, end))
    from = end + separator.length
  }
  return parts
}

/** Returns undefined for a file without a readable name. Rack drops such a file. */
function parsePart(part: Buffer, extendedNames: boolean): [string, unknown] | undefined {
  const end = part.indexOf(blankLine)
  if (end < 0) throw new MalformedMultipart('a part has no end of headers')
  const head = part.toString('utf8', 0, end)
  const content = part.subarray(end + blankLine.length)
  const disposition = /^content-disposition:(.*)$/im.exec(head)?.[1] ?? ''
  const name = parameter(disposition, 'name')
  if (name === undefined) throw new MalformedMultipart('a part has no name')
  const extended = extendedNames ? extendedFilename(disposition) : undefined
  const filename = extended ?? parameter(disposition, 'filename')
  if (filename === undefined && !/;\s*filename/i.test(disposition)) return [name, content.toString('utf8')]
  if (!filename) return undefined
  const type = /^content-type:\s*(.+?)\s*$/im.exec(head)?.[1] ?? ''
  const bytes = new Uint8Array(content.buffer, content.byteOffset, content.byteLength)
  return [name, new UploadedFile(filename, type, bytes)]
}

function parameter(disposition: string, key: string): string | undefined {
  const value = new RegExp(`;\\s*${key}="((?:[^"\\\\]|\\\\.)*)"`, 'i').exec(disposition)?.[1]
  return value?.replace(/\\(.)/g, '$1').replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n')
}

function extendedFilename(disposition: string): string | undefined {
  const value = /;\s*filename\*=utf-8''([^;\s]+)/i.exec(disposition)?.[1]
  return value === undefined ? undefined : decodeURIComponent(value)
}

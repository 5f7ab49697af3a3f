// Reads a file of a form that a caller sent as multipart/form-data (RFC 7578). The body is in memory already, and each of its
// bytes is looked at a few times at most.

import { BridgeError } from '../core/errors.ts'

const lineEnd = '\r\n'
/** A form of ours has one field. */
const mostParts = 20
const mostHeaderBytes = 4096
/** After a semicolon or at the beginning. A quoted value may have semicolons in it. */
const parameter = /(?:^|;) *([a-z]{1,20})\*?=(?:"([^"]*)"|([^";\s]+))/gi

type Part = { headers: string; content: Buffer }

/** `field` is the name of the field with the file. Throws SERVICE_BAD_REQUEST if there is no such file. */
export function readFormFile(body: unknown, contentType: string, field: string): Buffer {
  const boundary = boundaryOf(contentType)
  if (!Buffer.isBuffer(body) || boundary === undefined) throw notValid()
  for (const { headers, content } of partsOf(body, boundary)) {
    const disposition = /^content-disposition: *form-data *;(.*)$/im.exec(headers)?.[1] ?? ''
    // A field without a file name is a text.
    if (valueOf(disposition, 'name') === field && valueOf(disposition, 'filename') !== undefined) return content
  }
  throw new BridgeError('SERVICE_BAD_REQUEST', `${field} must be a file of the form`)
}

function boundaryOf(contentType: string): string | undefined {
  const boundary = valueOf(contentType.slice(contentType.indexOf(';') + 1), 'boundary') ?? ''
  return /^[\x20-\x7e]{1,70}$/.test(boundary) ? boundary : undefined
}

/** The value of a parameter such as `name="picture"`, or in the form `name*=…` that some programs use for file names. */
function valueOf(parameters: string, name: string): string | undefined {
  for (const [, key, quoted, plain] of parameters.matchAll(parameter)) {
    if (key?.toLowerCase() === name) return quoted ?? plain
  }
  return undefined
}

/** Before the first part and after the last one there may be other text. */
function* partsOf(body: Buffer, boundary: string): Generator<Part> {
  const opening = Buffer.from(`--${boundary}`)
  const delimiter = Buffer.from(`${lineEnd}--${boundary}`)
  const first = body.subarray(0, opening.length).equals(opening) ? -lineEnd.length : body.indexOf(delimiter)
  if (first === -1) throw notValid()
  let at = first + delimiter.length
  for (let count = 0; count < mostParts; count++) {
    const next = body.toString('latin1', at, at + 2)
    if (next === '--') return
    const headersFrom = at + lineEnd.length
    const headersEnd = body.indexOf(lineEnd + lineEnd, at)
    const contentFrom = headersEnd + 2 * lineEnd.length
    const contentEnd = body.indexOf(delimiter, contentFrom - lineEnd.length)
    const isWhole = next === lineEnd && headersEnd !== -1 && contentEnd !== -1
    if (!isWhole || headersEnd - headersFrom > mostHeaderBytes) throw notValid()
    const headers = body.toString('utf8', headersFrom, Math.max(headersFrom, headersEnd))
    yield { headers, content: body.subarray(contentFrom, Math.max(contentFrom, contentEnd)) }
    at = contentEnd + delimiter.length
  }
  throw notValid()
}

function notValid(): BridgeError {
  return new BridgeError('SERVICE_BAD_REQUEST', 'the body is not a valid form')
}

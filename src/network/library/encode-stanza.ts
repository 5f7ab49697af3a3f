// Encodes stanzas for the wire, like `encodeBinaryNode` of the library, which makes a list with an entry for each byte.
//
// How a text is written does not depend on its place: as a token, packed, as an address or as it is. The library is asked for
// that once for each text in use.

import { remembered } from '../../lib/text/remembered.ts'
import { encodeBinaryNode } from './library.ts'
import type { BinaryNode } from './library.ts'

const [listEmpty, listShort, listLong] = [0, 248, 249]
const [bytesShort, bytesLong, bytesLongest] = [252, 253, 254]
const shortEnd = 2 ** 8
const longEnd = 2 ** 20
/** In front of the text of a stanza that has nothing but a tag. */
const beforeTag = 3
const textsRemembered = 2000

/** The stanza is not compressed. */
const flags = Buffer.of(0)
const empty = Buffer.alloc(0)
const shortLengths = Array.from({ length: shortEnd }, (_, length) => Buffer.of(bytesShort, length))
const listStarts = shortLengths.map((_, size) => (size === 0 ? Buffer.of(listEmpty) : Buffer.of(listShort, size)))

const textBytes = remembered(textsRemembered, (text) => {
  // A copy: a small Buffer keeps the memory of its neighbours.
  return new Uint8Array(encodeBinaryNode({ tag: text, attrs: {} }).subarray(beforeTag))
})

export function encodeStanza(stanza: BinaryNode): Buffer {
  const pieces: Uint8Array[] = [flags]
  write(pieces, stanza)
  return Buffer.concat(pieces)
}

function write(pieces: Uint8Array[], { tag, attrs, content }: BinaryNode): void {
  const start = pieces.length
  pieces.push(empty, textBytes(tag))
  for (const name in attrs) {
    const value = attrs[name]
    if (value != null) pieces.push(textBytes(name), valueBytes(value))
  }
  pieces[start] = listStart(pieces.length - start - 1 + (content === undefined ? 0 : 1))
  if (content === undefined) return
  if (typeof content === 'string') pieces.push(valueBytes(content))
  else if (content instanceof Uint8Array) pieces.push(lengthOf(content), content)
  else {
    pieces.push(listStart(content.length))
    for (const inner of content) write(pieces, inner)
  }
}

/** An empty text cannot be a tag. */
function valueBytes(text: string): Uint8Array {
  return text === '' ? lengthOf(empty) : textBytes(text)
}

function listStart(size: number): Uint8Array {
  return listStarts[size] ?? Buffer.of(listLong, size >> 8, size & 0xff)
}

function lengthOf({ length }: Uint8Array): Uint8Array {
  if (length < shortEnd) return shortLengths[length] ?? empty
  const inThree = [(length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff]
  return length < longEnd ? Buffer.of(bytesLong, ...inThree) : Buffer.of(bytesLongest, length >>> 24, ...inThree)
}

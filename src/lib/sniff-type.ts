// Tells what a file is by its first bytes; names and declared types lie.

/** How many leading bytes are worth looking at. */
export const sniffLength = 4096

type Signature = { type: string; at?: number; bytes: string | readonly number[]; also?: (head: Uint8Array) => boolean }

const riff = (kind: string) => (head: Uint8Array) => ascii(head, 8, 4) === kind

const signatures: readonly Signature[] = [
  { type: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  { type: 'image/png', bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { type: 'image/gif', bytes: 'GIF8' },
  { type: 'image/webp', bytes: 'RIFF', also: riff('WEBP') },
  { type: 'audio/wav', bytes: 'RIFF', also: riff('WAVE') },
  { type: 'audio/ogg; codecs=opus', bytes: 'OggS', also: (head) => ascii(head, 28, 8) === 'OpusHead' },
  { type: 'video/ogg', bytes: 'OggS', also: (head) => ascii(head, 29, 6) === 'theora' },
  { type: 'audio/ogg', bytes: 'OggS' },
  { type: 'audio/mpeg', bytes: 'ID3' },
  { type: 'audio/aac', bytes: [0xff, 0xf1] },
  { type: 'audio/aac', bytes: [0xff, 0xf9] },
  { type: 'audio/mpeg', bytes: [0xff], also: ([, second = 0]) => (second & 0xe6) === 0xe2 || (second & 0xe6) === 0xe4 },
  { type: 'audio/amr', bytes: '#!AMR' },
  { type: 'audio/flac', bytes: 'fLaC' },
  { type: 'application/pdf', bytes: '%PDF-' },
  { type: 'video/webm', bytes: [0x1a, 0x45, 0xdf, 0xa3] },
  { type: 'application/zip', bytes: [0x50, 0x4b, 0x03, 0x04] },
]

const isoBrands: readonly (readonly [RegExp, string])[] = [
  [/^(M4A|M4B|F4A)/, 'audio/mp4'],
  [/^qt/, 'video/quicktime'],
  [/^(3g|kddi)/, 'video/3gpp'],
  [/^(heic|heix|mif1|msf1)/, 'image/heic'],
  [/^avi[fs]/, 'image/avif'],
  [/./, 'video/mp4'],
]

/** Undefined when the bytes are no witness. */
export function sniffType(head: Uint8Array): string | undefined {
  if (ascii(head, 4, 4) === 'ftyp') return isoBrands.find(([brand]) => brand.test(ascii(head, 8, 4)))?.[1]
  return signatures.find(({ at = 0, bytes, also }) => starts(head, at, bytes) && (also?.(head) ?? true))?.type
}

function starts(head: Uint8Array, at: number, bytes: string | readonly number[]): boolean {
  if (typeof bytes === 'string') return ascii(head, at, bytes.length) === bytes
  return bytes.every((byte, index) => head[at + index] === byte)
}

function ascii(head: Uint8Array, at: number, length: number): string {
  return Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1', at, at + length)
}

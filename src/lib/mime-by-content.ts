// Finds the type of a file by its first bytes; senders and servers often declare a wrong one.

/** How many bytes at the start are enough. */
export const sniffBytes = 128

type Signature = { mime: string; at: number; bytes: readonly (number | string)[] }

const signatures = compile([
  { mime: 'image/jpeg', at: 0, bytes: [0xff, 0xd8, 0xff] },
  { mime: 'image/png', at: 0, bytes: [0x89, 'PNG', 0x0d, 0x0a, 0x1a, 0x0a] },
  { mime: 'image/gif', at: 0, bytes: ['GIF8'] },
  { mime: 'image/webp', at: 8, bytes: ['WEBP'] },
  { mime: 'audio/wav', at: 8, bytes: ['WAVE'] },
  { mime: 'video/x-msvideo', at: 8, bytes: ['AVI '] },
  { mime: 'audio/mpeg', at: 0, bytes: ['ID3'] },
  { mime: 'audio/amr', at: 0, bytes: ['#!AMR'] },
  { mime: 'audio/flac', at: 0, bytes: ['fLaC'] },
  { mime: 'application/pdf', at: 0, bytes: ['%PDF-'] },
])

/** Brands of the ISO container that are not video. */
const brands: Record<string, string> = {
  'M4A ': 'audio/mp4',
  'M4B ': 'audio/mp4',
  heic: 'image/heic',
  heix: 'image/heic',
  mif1: 'image/heif',
  avif: 'image/avif',
  'qt  ': 'video/quicktime',
}

/** The type that the bytes show, else the declared one; null when neither is known. */
export function mimeByContent(bytes: Buffer, declared: string | null): string | null {
  const shown = sniff(bytes)
  if (shown === null) return declared
  // The first bytes of a container show neither whether it holds sound or video nor its dialect.
  const isContainer = /^(audio|video)\/(mp4|quicktime|ogg|webm)$/.test(shown)
  const agrees = isContainer && declared !== null && /^(audio|video)\//.test(declared)
  return agrees && containerOf(shown) === containerOf(declared) ? declared : shown
}

function containerOf(mime: string): string {
  const [, subtype = ''] = mime.split('/')
  if (['mp4', 'quicktime', 'x-m4a', 'm4a', 'x-m4v', '3gpp', 'aac'].includes(subtype)) return 'mp4'
  return ['ogg', 'opus', 'vorbis'].includes(subtype) ? 'ogg' : subtype
}

function sniff(bytes: Buffer): string | null {
  const known = signatures.find(({ at, expected }) => bytes.subarray(at, at + expected.length).equals(expected))
  if (known) return known.mime
  // Many texts begin with these two letters; in a bitmap four reserved bytes follow.
  if (bytes.toString('latin1', 0, 2) === 'BM' && bytes.subarray(6, 10).equals(Buffer.alloc(4))) return 'image/bmp'
  if (bytes.toString('latin1', 4, 8) === 'ftyp') return brands[bytes.toString('latin1', 8, 12)] ?? 'video/mp4'
  if (bytes.toString('latin1', 0, 4) === 'OggS') return bytes.includes('theora') ? 'video/ogg' : 'audio/ogg'
  if (bytes.subarray(0, 4).equals(Buffer.of(0x1a, 0x45, 0xdf, 0xa3))) {
    return bytes.includes('webm') ? 'video/webm' : 'video/x-matroska'
  }
  return isMpegAudio(bytes) ? 'audio/mpeg' : null
}

/** A frame header of layer III: eleven bits of sync, then a valid layer, bit rate and sampling rate. */
function isMpegAudio(bytes: Buffer): boolean {
  const [first = 0, second = 0, third = 0] = bytes
  return first === 0xff && (second & 0xe6) === 0xe2 && (third & 0xf0) !== 0xf0 && (third & 0x0c) !== 0x0c
}

function compile(list: readonly Signature[]): readonly { mime: string; at: number; expected: Buffer }[] {
  return list.map(({ mime, at, bytes }) => {
    const parts = bytes.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.of(part)))
    return { mime, at, expected: Buffer.concat(parts) }
  })
}

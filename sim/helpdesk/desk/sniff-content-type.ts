// Finds the content type of a stored file as Rails does: by its first bytes, then by the sender's word, then by its name.

import mime from 'mime'

type SentFile = { filename: string; contentType: string; bytes: Uint8Array }
type Signature = { at?: number; text: string; type: string }

const signatures: readonly Signature[] = [
  { text: '\u00ff\u00d8\u00ff', type: 'image/jpeg' },
  { text: '\u0089PNG', type: 'image/png' },
  { text: 'GIF8', type: 'image/gif' },
  { at: 8, text: 'WEBP', type: 'image/webp' },
  { at: 8, text: 'WAVE', type: 'audio/x-wav' },
  { text: '%PDF-', type: 'application/pdf' },
  { text: 'ID3', type: 'audio/mpeg' },
  { at: 28, text: 'OpusHead', type: 'audio/opus' },
  { text: 'BEGIN:VCARD', type: 'text/vcard' },
  { at: 4, text: 'ftypM4A', type: 'audio/mp4' },
  { at: 4, text: 'ftypheic', type: 'image/heic' },
  // Rails takes 3gp for a film of QuickTime.
  { at: 4, text: 'ftyp3gp', type: 'video/quicktime' },
  { at: 4, text: 'ftypqt', type: 'video/quicktime' },
  { at: 4, text: 'ftyp', type: 'video/mp4' },
]

export function sniffContentType({ bytes, contentType, filename }: SentFile): string {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 64)).toString('latin1')
  const known = signatures.find(({ at = 0, text }) => start.startsWith(text, at))
  if (known) return known.type
  const declared = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (declared !== '' && declared !== 'application/octet-stream') return declared
  return mime.getType(filename) ?? 'application/octet-stream'
}

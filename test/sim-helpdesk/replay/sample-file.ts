// Files with the first bytes of their kind, padded to the size of the recorded file.

const starts: Record<string, string> = {
  jpg: '\u00ff\u00d8\u00ff\u00e0',
  png: '\u0089PNG\r\n',
  webp: 'RIFF\0\0\0\0WEBP',
  gif: 'GIF89a',
  heic: '\0\0\0\u0018ftypheic',
  mp4: '\0\0\0\u0018ftypisom',
  '3gp': '\0\0\0\u0018ftyp3gp4',
  mov: '\0\0\0\u0018ftypqt  ',
  mp3: 'ID3\u0004',
  ogg: `OggS${'\0'.repeat(24)}OpusHead`,
  m4a: '\0\0\0\u0018ftypM4A ',
  wav: 'RIFF\0\0\0\0WAVEfmt ',
  pdf: '%PDF-1.4\n',
  docx: 'PK\u0003\u0004',
  zip: 'PK\u0003\u0004',
  vcf: 'BEGIN:VCARD\n',
  svg: '<svg xmlns="http://www.w3.org/2000/svg"/>',
}

export function sampleBytes(kind: string, size = 100): Uint8Array<ArrayBuffer> {
  const start = Buffer.from(starts[kind] ?? '', 'latin1')
  const bytes = new Uint8Array(size)
  bytes.set(start.subarray(0, size))
  return bytes
}

export type Part =
  { name: string; value: string } | { name: string; head: string; type?: string | null; bytes: Uint8Array }

/** Builds a multipart body by hand, because FormData cannot send odd file names or a part without a type. */
export function multipart(parts: readonly Part[]): { body: Uint8Array<ArrayBuffer>; type: string } {
  const boundary = 'replay-boundary'
  const chunks = parts.flatMap((part) => {
    const isFile = 'bytes' in part
    const head = isFile ? `; ${part.head}` : ''
    const type = isFile && part.type ? `Content-Type: ${part.type}\r\n` : ''
    const top = `--${boundary}\r\nContent-Disposition: form-data; name="${part.name}"${head}\r\n${type}\r\n`
    return [Buffer.from(top), isFile ? part.bytes : Buffer.from(part.value), Buffer.from('\r\n')]
  })
  const body = new Uint8Array(Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]))
  return { body, type: `multipart/form-data; boundary=${boundary}` }
}

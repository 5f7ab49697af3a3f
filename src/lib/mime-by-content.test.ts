import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mimeByContent } from './mime-by-content.ts'

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))))

test('known files are recognised by their first bytes, not by the declared type', () => {
  const cases: [Buffer, string][] = [
    [bytes([0xff, 0xd8, 0xff, 0xe0]), 'image/jpeg'],
    [bytes([0x89], 'PNG\r\n\x1a\n'), 'image/png'],
    [bytes('GIF89a'), 'image/gif'],
    [bytes('RIFF', [1, 2, 3, 4], 'WEBPVP8 '), 'image/webp'],
    [bytes('RIFF', [1, 2, 3, 4], 'WAVEfmt '), 'audio/wav'],
    [bytes('BM', [1, 2, 3, 4, 0, 0, 0, 0, 54]), 'image/bmp'],
    [bytes('ID3', [4, 0]), 'audio/mpeg'],
    [bytes([0xff, 0xfb, 0x90, 0x64]), 'audio/mpeg'],
    [bytes('%PDF-1.7'), 'application/pdf'],
    [bytes([0, 0, 0, 24], 'ftypisom'), 'video/mp4'],
    [bytes([0, 0, 0, 24], 'ftypM4A '), 'audio/mp4'],
    [bytes([0, 0, 0, 24], 'ftypheic'), 'image/heic'],
    [bytes('OggS', [0, 2], 'OpusHead'), 'audio/ogg'],
    [bytes([0x1a, 0x45, 0xdf, 0xa3], '....webm'), 'video/webm'],
    [bytes('#!AMR\n'), 'audio/amr'],
  ]
  for (const [content, mime] of cases) assert.equal(mimeByContent(content, 'application/x-wrong'), mime)
})

test('in a container the declared type decides between sound and picture', () => {
  assert.equal(mimeByContent(bytes([0x1a, 0x45, 0xdf, 0xa3], '....webm'), 'audio/webm'), 'audio/webm')
  assert.equal(mimeByContent(bytes([0, 0, 0, 24], 'ftypisom'), 'audio/mp4'), 'audio/mp4')
  assert.equal(mimeByContent(bytes([0, 0, 0, 24], 'ftypisom'), 'audio/ogg'), 'video/mp4')
  assert.equal(mimeByContent(bytes('OggS', [0, 2], 'OpusHead'), 'audio/opus'), 'audio/opus')
})

test('an unrecognised file keeps its declared type: documents are zip files inside', () => {
  const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
  assert.equal(mimeByContent(bytes('PK\x03\x04'), docx), docx)
  assert.equal(mimeByContent(bytes('BM is how this text begins'), 'text/plain'), 'text/plain')
  assert.equal(mimeByContent(Buffer.alloc(0), null), null)
})

test('no sequence of bytes makes it fail', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (content) => mimeByContent(Buffer.from(content), null) !== ''),
  )
  fc.assert(fc.property(fc.uint8Array({ maxLength: 9 }), (rest) => mimeByContent(bytes('BM', [...rest]), 'x/y') !== ''))
})

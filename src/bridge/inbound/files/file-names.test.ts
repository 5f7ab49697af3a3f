import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MediaContent } from '../../../core/message.ts'
import { fileNameOf, mimeTypeOf } from './file-names.ts'

const file = { kind: 'document', url: null, directPath: null, mediaKey: '', sha256: null, encSha256: null } as const

function media(changes: Partial<MediaContent>): MediaContent {
  const unnamed = { size: null, fileName: null, caption: null, seconds: null }
  return { type: 'media', media: 'document', file, mimeType: '', ...unnamed, ...changes }
}

const id = '3EB0ABCDEF0123456789'

test('a file without a name is named after its kind, its message and its type', () => {
  const types: [Partial<MediaContent>, string][] = [
    [{ mimeType: 'application/vnd.oasis.opendocument.text' }, 'document-EF0123456789.odt'],
    [{ mimeType: 'application/vnd.android.package-archive' }, 'document-EF0123456789.apk'],
    [{ mimeType: 'text/rtf' }, 'document-EF0123456789.rtf'],
    [{ mimeType: 'application/pdf' }, 'document-EF0123456789.pdf'],
    [{ mimeType: 'text/vcard' }, 'document-EF0123456789.vcf'],
    [{ mimeType: 'application/x-unheard-of' }, 'document-EF0123456789.bin'],
    [{ mimeType: 'application/octet-stream' }, 'document-EF0123456789.bin'],
    [{ media: 'image', mimeType: 'image/jpeg' }, 'image-EF0123456789.jpg'],
    [{ media: 'sticker', mimeType: 'image/webp' }, 'sticker-EF0123456789.webp'],
    [{ media: 'voice', mimeType: 'audio/ogg; codecs=opus' }, 'voice-EF0123456789.ogg'],
    [{ media: 'audio', mimeType: 'audio/mpeg' }, 'audio-EF0123456789.mp3'],
    [{ media: 'audio', mimeType: 'audio/mp4' }, 'audio-EF0123456789.m4a'],
    [{ media: 'audio', mimeType: 'audio/aac' }, 'audio-EF0123456789.aac'],
    [{ media: 'video', mimeType: 'video/quicktime' }, 'video-EF0123456789.mov'],
    [{ media: 'video_note', mimeType: '' }, 'video-note-EF0123456789.mp4'],
  ]
  for (const [changes, name] of types) assert.equal(fileNameOf(media(changes), id), name)
})

test('a name without an ending gets the ending of its type; a name of an unknown type stays', () => {
  const named = (fileName: string, mimeType: string) => fileNameOf(media({ fileName, mimeType }), id)
  assert.equal(named('offer', 'application/vnd.oasis.opendocument.spreadsheet'), 'offer.ods')
  assert.equal(named('offer.2024', 'application/pdf'), 'offer.2024')
  assert.equal(named('LICENSE', 'application/octet-stream'), 'LICENSE')
  assert.equal(named('data', 'application/x-unheard-of'), 'data')
})

test('a name has no path and no control characters, and is short', () => {
  const named = (fileName: string) => fileNameOf(media({ fileName, mimeType: 'application/pdf' }), id)
  assert.equal(named('../../etc/passwd.pdf'), '_.._etc_passwd.pdf')
  assert.equal(named('a\nb.pdf'), 'a_b.pdf')
  assert.equal(named(`${'x'.repeat(300)}.pdf`), `${'x'.repeat(146)}.pdf`)
})

test('the type of a voice message is audio/ogg; a type that makes no sense is the usual one of the kind', () => {
  assert.equal(mimeTypeOf({ media: 'voice', mimeType: 'audio/mp4' }), 'audio/ogg')
  assert.equal(mimeTypeOf({ media: 'image', mimeType: 'Image/PNG; x=y' }), 'image/png')
  assert.equal(mimeTypeOf({ media: 'image', mimeType: 'picture' }), 'image/jpeg')
})

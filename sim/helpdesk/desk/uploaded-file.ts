// A file of a multipart request, and the type that Chatwoot gives it.

import type { Desk } from './desk.ts'
import type { BlobRow, FileType } from '../state/rows.ts'
import { sniffContentType } from './sniff-content-type.ts'

export class UploadedFile {
  readonly filename: string
  /** The Content-Type of the part, as it was sent. It is empty if the part has none. */
  readonly contentType: string
  readonly bytes: Uint8Array

  constructor(filename: string, contentType: string, bytes: Uint8Array) {
    this.filename = filename
    this.contentType = contentType
    this.bytes = bytes
  }
}

const images = new Set(['image/jpeg', 'image/jpg', 'image/png', 'image/gif', 'image/bmp', 'image/webp'])
const videos = new Set(['video/ogg', 'video/mp4', 'video/webm', 'video/quicktime'])

/** Uses only the Content-Type of the part, in lower case: heic, 3gpp, svg and IMAGE/JPEG are plain files. */
export function fileTypeOf(contentType: string): FileType {
  const bare = contentType.split(';')[0]?.trim() ?? ''
  if (images.has(bare)) return 'image'
  if (bare.includes('audio/')) return 'audio'
  if (videos.has(bare)) return 'video'
  return 'file'
}

export function extensionOf(filename: string): string | null {
  const dot = filename.lastIndexOf('.')
  return dot > 0 ? filename.slice(dot + 1) : null
}

/** Rails keeps the last part of a path and replaces the characters that a file system may refuse. */
function cleanName(filename: string): string {
  const last = filename.slice(filename.lastIndexOf('/') + 1)
  return last.trim().replace(/[\u202E%$|:;\t\r\n\\]/g, '-')
}

/** Chatwoot uploads the file to the storage after the commit. Until storedAt a download finds no file. */
export function storeBlob(desk: Desk, file: UploadedFile): BlobRow {
  const number = desk.state.blobs.size + 1
  const blob: BlobRow = {
    key: desk.choices.token('blob', number).toLowerCase() + number.toString(36),
    filename: cleanName(file.filename),
    contentType: sniffContentType(file),
    bytes: file.bytes,
    storedAt: desk.clock.now() + desk.choices.between(desk.settings.quirks.fileDelayMs, 'stored', number),
  }
  desk.state.blobs.set(blob.key, blob)
  return blob
}

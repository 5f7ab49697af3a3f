// Contact pictures: an uploaded file is stored at once; an address is fetched by a later job, which always fails here.

import { createHash } from 'node:crypto'
import type { BlobRow, ContactRow } from '../state/rows.ts'
import type { Desk } from './desk.ts'
import { recordInvalid } from './rails-error.ts'
import { sniffContentType } from './sniff-content-type.ts'
import { storeBlob } from './uploaded-file.ts'
import type { UploadedFile } from './uploaded-file.ts'

const maxBytes = 15 * 1024 * 1024
const types = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

export function saveAvatar(desk: Desk, file: UploadedFile): BlobRow {
  if (!types.has(sniffContentType(file))) throw recordInvalid('Avatar filetype not supported', ['avatar'])
  if (file.bytes.length > maxBytes) throw recordInvalid('Avatar is too big', ['avatar'])
  return storeBlob(desk, file)
}

/** Every address here is private and the SSRF filter refuses it, so the job only writes its attributes. */
export function syncAvatarLater(desk: Desk, contact: ContactRow, url: string): void {
  desk.later(() => {
    if (!/^https?:/.test(url)) return
    const now = desk.clock.now()
    const known = contact.additionalAttributes
    const last = known['last_avatar_sync_at']
    if (typeof last === 'string' && now - Date.parse(last) < 60_000) return
    const hash = createHash('sha256').update(url).digest('hex')
    if (known['avatar_url_hash'] === hash) return
    contact.additionalAttributes = {
      ...known,
      last_avatar_sync_at: new Date(now).toISOString(),
      avatar_url_hash: hash,
    }
  })
}

// The addresses of files: they start with FRONTEND_URL, need no token and answer with a redirect.

import type { BlobRow } from '../state/rows.ts'

/** The signed size of a preview. The simulator serves the original in its place. */
const variation = 'preview'

export type FileAddresses = { readonly frontendUrl: string }

export function blobUrl({ frontendUrl }: FileAddresses, blob: BlobRow): string {
  return `${frontendUrl}/rails/active_storage/blobs/redirect/${blob.key}/${encodeURIComponent(blob.filename)}`
}

export function previewUrl({ frontendUrl }: FileAddresses, blob: BlobRow | null): string {
  if (!blob) return ''
  const name = encodeURIComponent(blob.filename)
  return `${frontendUrl}/rails/active_storage/representations/redirect/${blob.key}/${variation}/${name}`
}

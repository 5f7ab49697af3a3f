// A photo with a caption, and what is posted while its file is missing.

import type { MediaContent } from '../../../../src/core/message.ts'

/** Where the file of a photo is. */
export const file = {
  kind: 'image' as const,
  url: 'https://x',
  directPath: null,
  mediaKey: 'a2V5',
  sha256: null,
  encSha256: null,
}

export function photo(changes: Partial<MediaContent> = {}): MediaContent {
  const rest = { size: 4, fileName: null, caption: 'look', seconds: null }
  return { type: 'media', media: 'image', file, mimeType: 'image/jpeg', ...rest, ...changes }
}

/** The text of a photo that could not be fetched. */
export const missing = 'look\n\n⚠️ The photo could not be fetched. It follows as a reply if it arrives within 24 hours.'

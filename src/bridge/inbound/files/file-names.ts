// Names a file from the network for the helpdesk, and says of which type the file is. Agents open the file by both.

import mime from 'mime'
import type { MediaContent } from '../../../core/message.ts'
import type { NetworkMessageId } from '../../../core/ids.ts'

/** Where the registered extension of a type is not the one that people know. */
const usualExtensions: Record<string, string> = {
  'video/quicktime': 'mov',
  'audio/ogg': 'ogg',
  'audio/mpeg': 'mp3',
  'audio/aac': 'aac',
  'text/vcard': 'vcf',
}

const unknownType = 'application/octet-stream'

/** The type of a file whose sender named none. */
const standardTypes: Record<MediaContent['media'], string> = {
  image: 'image/jpeg',
  video: 'video/mp4',
  gif: 'video/mp4',
  video_note: 'video/mp4',
  audio: 'audio/mpeg',
  voice: 'audio/ogg',
  document: unknownType,
  sticker: 'image/webp',
}

const maxName = 150

/** Without parameters: the helpdesk tells the kind of a file by the bare type. */
export function mimeTypeOf({ media, mimeType }: Pick<MediaContent, 'media' | 'mimeType'>): string {
  if (media === 'voice') return 'audio/ogg'
  const bare = mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return /^[a-z]+\/[a-z0-9.+-]+$/.test(bare) ? bare : standardTypes[media]
}

export function fileNameOf(media: MediaContent, networkId: NetworkMessageId): string {
  const extension = extensionOf(mimeTypeOf(media))
  const given = cleanName(media.fileName ?? '')
  if (given === '') return `${media.media.replace('_', '-')}-${networkId.slice(-12)}.${extension ?? 'bin'}`
  return /\.[a-z0-9]{1,10}$/i.test(given) || extension === undefined ? given : `${given}.${extension}`
}

function extensionOf(mimeType: string): string | undefined {
  if (mimeType === unknownType) return undefined
  return usualExtensions[mimeType] ?? mime.getExtension(mimeType) ?? undefined
}

/** No paths, no control characters, and short enough for every file system; the ending stays. */
function cleanName(name: string): string {
  const clean = name
    .replace(/[\p{C}/\\]+/gu, '_')
    .replace(/^\.+/, '')
    .trim()
  if (clean.length <= maxName) return clean
  const ending = /\.[a-z0-9]{1,10}$/i.exec(clean)?.[0] ?? ''
  return clean.slice(0, maxName - ending.length) + ending
}

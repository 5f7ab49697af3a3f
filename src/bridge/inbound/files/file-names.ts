// What a file from the network is called at the helpdesk, and of which type it is: agents open it by both.

import type { MediaContent } from '../../../core/message.ts'

const extensions: Record<string, string> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/heic': 'heic',
  'video/mp4': 'mp4',
  'video/3gpp': '3gp',
  'video/quicktime': 'mov',
  'video/webm': 'webm',
  'audio/ogg': 'ogg',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/aac': 'aac',
  'audio/amr': 'amr',
  'audio/wav': 'wav',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/msword': 'doc',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'text/plain': 'txt',
  'text/csv': 'csv',
  'text/vcard': 'vcf',
}

const standardTypes: Record<MediaContent['media'], string> = {
  image: 'image/jpeg',
  video: 'video/mp4',
  gif: 'video/mp4',
  video_note: 'video/mp4',
  audio: 'audio/mpeg',
  voice: 'audio/ogg',
  document: 'application/octet-stream',
  sticker: 'image/webp',
}

const maxName = 150

/** Without parameters: the helpdesk tells kinds by the bare type. */
export function mimeTypeOf({ media, mimeType }: Pick<MediaContent, 'media' | 'mimeType'>): string {
  if (media === 'voice') return 'audio/ogg'
  const bare = mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return /^[a-z]+\/[a-z0-9.+-]+$/.test(bare) ? bare : standardTypes[media]
}

export function fileNameOf(media: MediaContent, networkId: string): string {
  const extension = extensions[mimeTypeOf(media)]
  const given = cleanName(media.fileName ?? '')
  if (given === '') return `${media.media.replace('_', '-')}-${networkId.slice(-12)}.${extension ?? 'bin'}`
  return /\.[a-z0-9]{1,10}$/i.test(given) || extension === undefined ? given : `${given}.${extension}`
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

// Decodes messages that carry a file.

import type { FileRef, MediaContent, MediaKind } from '../../core/message.ts'
import type { proto } from '../library/library.ts'
import { base64Of, numberOf, textOf } from './values.ts'

type File = {
  url?: string | null
  directPath?: string | null
  mediaKey?: Uint8Array | null
  fileSha256?: Uint8Array | null
  fileEncSha256?: Uint8Array | null
  fileLength?: Parameters<typeof numberOf>[0]
  mimetype?: string | null
  caption?: string | null
}
type Extras = { fileName?: string | null | undefined; seconds?: number | null | undefined }

const fileKinds: Record<MediaKind, FileRef['kind']> = {
  image: 'image',
  video: 'video',
  gif: 'video',
  video_note: 'video',
  audio: 'audio',
  voice: 'audio',
  document: 'document',
  sticker: 'sticker',
}
const usualTypes: Record<FileRef['kind'], string> = {
  image: 'image/jpeg',
  video: 'video/mp4',
  audio: 'audio/ogg; codecs=opus',
  document: 'application/octet-stream',
  sticker: 'image/webp',
}

export function mediaContent(media: MediaKind, file: File, { fileName, seconds }: Extras = {}): MediaContent {
  const kind = fileKinds[media]
  return {
    type: 'media',
    media,
    file: {
      kind,
      url: textOf(file.url),
      directPath: textOf(file.directPath),
      mediaKey: base64Of(file.mediaKey) ?? '',
      sha256: base64Of(file.fileSha256),
      encSha256: base64Of(file.fileEncSha256),
    },
    mimeType: textOf(file.mimetype) ?? usualTypes[kind],
    size: numberOf(file.fileLength),
    fileName: textOf(fileName),
    caption: textOf(file.caption),
    seconds: seconds ?? null,
  }
}

export function imageContent(image: proto.Message.IImageMessage): MediaContent {
  return mediaContent('image', image)
}

export function videoContent(video: proto.Message.IVideoMessage): MediaContent {
  return mediaContent(video.gifPlayback ? 'gif' : 'video', video, { seconds: video.seconds })
}

export function audioContent(audio: proto.Message.IAudioMessage): MediaContent {
  return mediaContent(audio.ptt ? 'voice' : 'audio', audio, { seconds: audio.seconds })
}

export function documentContent(document: proto.Message.IDocumentMessage): MediaContent {
  return mediaContent('document', document, { fileName: textOf(document.fileName) ?? textOf(document.title) })
}

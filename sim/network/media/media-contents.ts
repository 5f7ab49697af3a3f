// Builds messages that carry a file of the media host, and finds the file that a message carries.
import type { proto } from '../library.ts'
import { unwrap } from '../people/received-message.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { openMedia, sealMedia, type MediaKind, type SealedMedia } from './media-cipher.ts'
import type { MediaHost, StoredMedia } from './media-host.ts'
import type { SimClock } from '../../shiftable-clock.ts'

export type MediaOptions = {
  bytes: Buffer
  mimetype?: string
  caption?: string
  fileName?: string
  seconds?: number
  /** A voice note, with a waveform. */
  voice?: boolean
  gif?: boolean
  /** Wrapped as view-once but readable by companions, as from old phones. */
  viewOnce?: boolean
  /** The quoted message and the mentions. */
  contextInfo?: proto.IContextInfo
}
export type FileFields = Omit<SealedMedia, 'sealed'> &
  StoredMedia & { mimetype: string; mediaKeyTimestamp: number; contextInfo?: proto.IContextInfo }
type Deps = { host: MediaHost; random: SeededRandom; clock: SimClock }

const MIMETYPES: Record<MediaKind, string> = {
  image: 'image/jpeg',
  video: 'video/mp4',
  audio: 'audio/ogg; codecs=opus',
  document: 'application/pdf',
  sticker: 'image/webp',
}

/** Encrypts the file and stores it on the media host. */
export function uploadMedia(kind: MediaKind, options: MediaOptions, deps: Deps): FileFields {
  const { sealed, ...described } = sealMedia(kind, options.bytes, deps.random)
  const mediaKeyTimestamp = Math.floor(deps.clock.now() / 1000)
  const mimetype = options.mimetype ?? MIMETYPES[kind]
  const context = options.contextInfo ? { contextInfo: options.contextInfo } : {}
  return { ...described, ...deps.host.put(sealed), mimetype, mediaKeyTimestamp, ...context }
}

export function mediaMessage(kind: MediaKind, options: MediaOptions, deps: Deps): proto.IMessage {
  const message = mediaWith(kind, uploadMedia(kind, options, deps), options, deps.random.bytes(64))
  return options.viewOnce === true ? { viewOnceMessageV2: { message } } : message
}

/** A message with a file that the media host has already. */
export function mediaWith(
  kind: MediaKind,
  file: FileFields,
  options: Omit<MediaOptions, 'bytes'>,
  waveform: Buffer = Buffer.alloc(64),
): proto.IMessage {
  const { caption, seconds = 3 } = options
  const described = caption === undefined ? {} : { caption }
  switch (kind) {
    case 'image':
      return { imageMessage: { ...file, ...described, width: 1, height: 1 } }
    case 'video':
      return { videoMessage: { ...file, ...described, seconds, gifPlayback: options.gif ?? false } }
    case 'audio':
      return { audioMessage: { ...file, seconds, ptt: options.voice ?? false, waveform } }
    case 'sticker':
      return { stickerMessage: { ...file, width: 512, height: 512 } }
    case 'document': {
      const documentMessage = { ...file, ...described, fileName: options.fileName ?? 'file.pdf' }
      if (caption === undefined) return { documentMessage }
      return { documentWithCaptionMessage: { message: { documentMessage } } }
    }
  }
}

export type CarriedMedia = { kind: MediaKind; directPath: string; description: Omit<SealedMedia, 'sealed'> }

/** The file that a message carries, if there is one. */
export function carriedMedia(message: proto.IMessage): CarriedMedia | undefined {
  const { imageMessage, videoMessage, audioMessage, documentMessage, stickerMessage } = unwrap(message)
  const parts: [MediaKind, proto.Message.IImageMessage | null | undefined][] = [
    ['image', imageMessage],
    ['video', videoMessage],
    ['audio', audioMessage],
    ['document', documentMessage],
    ['sticker', stickerMessage],
  ]
  for (const [kind, part] of parts) {
    if (!part?.directPath || !part.mediaKey || !part.fileSha256 || !part.fileEncSha256) continue
    const description = {
      mediaKey: Buffer.from(part.mediaKey),
      fileSha256: Buffer.from(part.fileSha256),
      fileEncSha256: Buffer.from(part.fileEncSha256),
      fileLength: Number(part.fileLength ?? 0),
    }
    return { kind, directPath: part.directPath, description }
  }
  return undefined
}

export function downloadMedia(message: proto.IMessage, host: MediaHost): Buffer {
  const media = carriedMedia(message)
  if (!media) throw new Error('this message carries no file')
  const sealed = host.get(media.directPath)
  if (!sealed) throw new Error(`the file ${media.directPath} is not on the media host`)
  return openMedia(media.kind, sealed, media.description)
}

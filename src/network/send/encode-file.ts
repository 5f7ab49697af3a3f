// Uploads a file and encodes it as a message, with the facts that a phone shows before it loads the file.

import type { FileRef } from '../../core/message.ts'
import type { OutgoingContent, OutgoingFile } from '../../core/network/outgoing-content.ts'
import { contextInfo } from './encode-content.ts'
import type { Context } from './encode-content.ts'
import type { proto } from '../library/library.ts'
import { sealFile } from '../files/seal-file.ts'
import type { MediaUpload } from '../files/upload.ts'
import { oggSeconds } from '../files/ogg-duration.ts'
import { pictureFacts } from '../files/picture-facts.ts'

type FileContent = Extract<OutgoingContent, { type: 'file' }>
type StoredFile = Pick<
  proto.Message.IImageMessage,
  'url' | 'directPath' | 'mediaKey' | 'fileSha256' | 'fileEncSha256'
> & {
  fileLength: number
  mediaKeyTimestamp: number
}
type FileFields = StoredFile & { mimetype: string; contextInfo?: proto.IContextInfo }

const voiceType = 'audio/ogg; codecs=opus'

export async function encodeFile(
  content: FileContent,
  context: Context,
  { upload, gone }: { upload: MediaUpload; gone: AbortSignal },
): Promise<proto.IMessage> {
  const { file, caption } = content
  const kind: FileRef['kind'] = file.kind === 'voice' ? 'audio' : file.kind
  const sealed = await sealFile(file.path, kind, gone)
  const { url, directPath } = await upload.upload(sealed, kind)
  const fields: FileFields = {
    url,
    directPath,
    mediaKey: sealed.mediaKey,
    fileSha256: sealed.sha256,
    fileEncSha256: sealed.encSha256,
    fileLength: sealed.size,
    mediaKeyTimestamp: Math.floor(context.now / 1000),
    mimetype: file.mimeType,
    ...contextInfo(content, caption ?? '', context),
  }
  return describe(file, fields, caption === null ? {} : { caption: caption.toWellFormed() })
}

async function describe(
  file: OutgoingFile,
  fields: FileFields,
  caption: { caption?: string },
): Promise<proto.IMessage> {
  switch (file.kind) {
    case 'image': {
      const facts = await pictureFacts(file.path, true)
      const seen = facts && { width: facts.width, height: facts.height, jpegThumbnail: facts.thumbnail ?? null }
      return { imageMessage: { ...fields, ...caption, ...seen } }
    }
    case 'sticker': {
      const facts = await pictureFacts(file.path, false)
      const seen = facts && { width: facts.width, height: facts.height, isAnimated: facts.isAnimated }
      return { stickerMessage: { ...fields, ...seen } }
    }
    case 'video':
      return { videoMessage: { ...fields, ...caption } }
    case 'audio':
    case 'voice':
      return { audioMessage: { ...fields, ...(await recording(file)) } }
    case 'document': {
      const name = file.fileName.toWellFormed()
      const documentMessage = { ...fields, ...caption, fileName: name, title: name }
      if (caption.caption === undefined) return { documentMessage }
      return { documentWithCaptionMessage: { message: { documentMessage } } }
    }
  }
}

/** A phone shows a recording as a voice note only if the message says so. */
async function recording({ kind, path }: OutgoingFile): Promise<proto.Message.IAudioMessage> {
  const seconds = await oggSeconds(path)
  const length = seconds === undefined ? {} : { seconds }
  if (kind === 'audio') return { ...length, ptt: false }
  return { ...length, ptt: true, ...(seconds !== undefined && { mimetype: voiceType }) }
}

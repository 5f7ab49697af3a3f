// A file in the network's words: uploaded, and described by what a phone shows of it.

import type { FileRef } from '../../core/message.ts'
import type { OutgoingContent, OutgoingFile } from '../../core/network.ts'
import { contextInfo } from './encode-content.ts'
import type { Context } from './encode-content.ts'
import type { proto } from '../library/library.ts'
import { sealFile } from '../files/seal-file.ts'
import type { MediaUpload } from '../files/upload.ts'
import { oggSeconds } from '../files/ogg-duration.ts'
import { pictureFacts } from '../files/picture-facts.ts'

type FileContent = Extract<OutgoingContent, { type: 'file' }>
type Place = Pick<proto.Message.IImageMessage, 'url' | 'directPath' | 'mediaKey' | 'fileSha256' | 'fileEncSha256'> & {
  fileLength: number
  mediaKeyTimestamp: number
}
type Shown = Place & { mimetype: string; contextInfo?: proto.IContextInfo }

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
  const shown: Shown = {
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
  return describe(file, shown, caption === null ? {} : { caption })
}

async function describe(file: OutgoingFile, shown: Shown, caption: { caption?: string }): Promise<proto.IMessage> {
  switch (file.kind) {
    case 'image': {
      const facts = await pictureFacts(file.path, true)
      const seen = facts && { width: facts.width, height: facts.height, jpegThumbnail: facts.thumbnail ?? null }
      return { imageMessage: { ...shown, ...caption, ...seen } }
    }
    case 'sticker': {
      const facts = await pictureFacts(file.path, false)
      const seen = facts && { width: facts.width, height: facts.height, isAnimated: facts.isAnimated }
      return { stickerMessage: { ...shown, ...seen } }
    }
    case 'video':
      return { videoMessage: { ...shown, ...caption } }
    case 'audio':
    case 'voice':
      return { audioMessage: { ...shown, ...(await recording(file)) } }
    case 'document': {
      const documentMessage = { ...shown, ...caption, fileName: file.fileName, title: file.fileName }
      if (caption.caption === undefined) return { documentMessage }
      return { documentWithCaptionMessage: { message: { documentMessage } } }
    }
  }
}

/** A phone plays as a voice note only what says that it is one. */
async function recording({ kind, path }: OutgoingFile): Promise<proto.Message.IAudioMessage> {
  const seconds = await oggSeconds(path)
  const length = seconds === undefined ? {} : { seconds }
  if (kind === 'audio') return { ...length, ptt: false }
  return { ...length, ptt: true, ...(seconds !== undefined && { mimetype: voiceType }) }
}

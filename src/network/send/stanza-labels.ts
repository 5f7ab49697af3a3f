// Chooses the attributes of a stanza that describe the sealed message.

import type { proto } from '../library/library.ts'

type Labels = { type: 'text' | 'media' | 'reaction'; sealed: Record<string, string> }

export function labelsOf(message: proto.IMessage): Labels {
  if (message.reactionMessage) return { type: 'reaction', sealed: { 'decrypt-fail': 'hide' } }
  const media = mediaTypeOf(message.documentWithCaptionMessage?.message ?? message)
  return media === undefined ? { type: 'text', sealed: {} } : { type: 'media', sealed: { mediatype: media } }
}

function mediaTypeOf(message: proto.IMessage): string | undefined {
  if (message.imageMessage) return 'image'
  if (message.videoMessage) return message.videoMessage.gifPlayback ? 'gif' : 'video'
  if (message.audioMessage) return message.audioMessage.ptt ? 'ptt' : 'audio'
  if (message.documentMessage) return 'document'
  return message.stickerMessage ? 'sticker' : undefined
}

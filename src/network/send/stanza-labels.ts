// Chooses the attributes of a stanza that describe the sealed message.

import { proto } from '../library/library.ts'

type Attributes = Record<string, string>
/** `edit` is for the stanza, `sealed` for the parts with the message, `hidden` for the parts with the group's key. */
type Labels = { type: 'text' | 'media' | 'reaction'; edit: Attributes; sealed: Attributes; hidden: Attributes }

const { MESSAGE_EDIT, REVOKE } = proto.Message.ProtocolMessage.Type

export function labelsOf(message: proto.IMessage): Labels {
  const edit = editOf(message.protocolMessage)
  const media = mediaTypeOf(message.documentWithCaptionMessage?.message ?? message)
  const type = message.reactionMessage ? 'reaction' : media === undefined ? 'text' : 'media'
  // Such a message only changes another one. A device that cannot open it shows nothing in its place.
  const isHidden = type === 'reaction' || 'edit' in edit
  const hidden: Attributes = isHidden ? { 'decrypt-fail': 'hide' } : {}
  return { type, edit, sealed: media === undefined ? hidden : { mediatype: media, ...hidden }, hidden }
}

/** A group administrator's revoke has a number of its own. */
function editOf(change: proto.Message.IProtocolMessage | null | undefined): Attributes {
  if (change?.type === MESSAGE_EDIT) return { edit: '1' }
  return change?.type === REVOKE ? { edit: change.key?.fromMe ? '7' : '8' } : {}
}

function mediaTypeOf(message: proto.IMessage): string | undefined {
  if (message.imageMessage) return 'image'
  if (message.videoMessage) return message.videoMessage.gifPlayback ? 'gif' : 'video'
  if (message.audioMessage) return message.audioMessage.ptt ? 'ptt' : 'audio'
  if (message.documentMessage) return 'document'
  if (message.stickerMessage) return 'sticker'
  // An invitation counts as a link.
  return message.groupInviteMessage ? 'url' : undefined
}

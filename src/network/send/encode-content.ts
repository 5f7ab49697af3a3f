// Encodes outgoing content as a message of the network. Files are encoded in encode-file.ts.
//
// Half of a surrogate pair has no valid encoding, and a phone may refuse the whole message. `toWellFormed` replaces it.

import { groupJid, personJid, lidJid, phoneJid } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import type { Timer } from '../../core/chat-timer.ts'
import type { Jid } from '../../core/ids.ts'
import type { MessageKey } from '../../core/message.ts'
import type { OutgoingContent, QuotedMessage } from '../../core/network/outgoing-content.ts'
import { jidNormalizedUser, proto } from '../library/library.ts'
import { encodeTimer } from './encode-timer.ts'

/** `ownJid` is the account as the chat addresses it: by LID if the chat uses LIDs. */
export type Context = { chat: Jid; ownJid: Jid; now: number; timer: Timer | undefined }
type Plain = Exclude<OutgoingContent, { type: 'file' }>

export function encodeContent(content: Plain, context: Context): proto.IMessage {
  switch (content.type) {
    case 'text':
      return {
        extendedTextMessage: { text: content.text.toWellFormed(), ...contextInfo(content, content.text, context) },
      }
    case 'location':
      return { locationMessage: locationOf(content, context) }
    case 'contact':
      return { contactMessage: cardOf(content, context) }
    case 'reaction':
      return {
        reactionMessage: { key: libraryKey(content.target), text: content.emoji, senderTimestampMs: context.now },
      }
    case 'edit':
      return {
        protocolMessage: {
          key: libraryKey(content.target),
          type: proto.Message.ProtocolMessage.Type.MESSAGE_EDIT,
          editedMessage: { extendedTextMessage: { text: content.text.toWellFormed() } },
          timestampMs: context.now,
        },
      }
    case 'revoke':
      return { protocolMessage: { key: libraryKey(content.target), type: proto.Message.ProtocolMessage.Type.REVOKE } }
    case 'group_invite':
      return { groupInviteMessage: inviteOf(content, context) }
  }
}

function inviteOf(content: Extract<Plain, { type: 'group_invite' }>, context: Context) {
  const { groupId, subject, code, expiresAt, text } = content
  return {
    groupJid: groupJid(groupId),
    groupName: subject.toWellFormed(),
    inviteCode: code,
    inviteExpiration: Math.floor(expiresAt / 1000),
    caption: text.toWellFormed(),
    ...contextInfo({ mentions: [], quote: null }, text, context),
  }
}

function locationOf(content: Extract<Plain, { type: 'location' }>, context: Context): proto.Message.ILocationMessage {
  const { latitude, longitude, name, address } = content
  return {
    degreesLatitude: latitude,
    degreesLongitude: longitude,
    ...(name !== null && { name: name.toWellFormed() }),
    ...(address !== null && { address: address.toWellFormed() }),
    ...contextInfo({ ...content, mentions: [] }, '', context),
  }
}

/** The phone of the recipient offers to write to the number if the card names its WhatsApp id. */
function cardOf(content: Extract<Plain, { type: 'contact' }>, context: Context): proto.Message.IContactMessage {
  const { phone } = content
  const name = content.name.toWellFormed()
  const escaped = name.replace(/[\\,;]/g, '\\$&').replace(/\r\n|[\r\n]/g, '\\n')
  const lines = [`FN:${escaped}`, `N:;${escaped};;;`, `TEL;type=CELL;type=VOICE;waid=${phone}:+${phone}`]
  const vcard = ['BEGIN:VCARD', 'VERSION:3.0', ...lines, 'END:VCARD'].join('\n')
  return { displayName: name, vcard, ...contextInfo({ ...content, mentions: [] }, '', context) }
}

/** Whether the timer of a chat applies to this content. Reactions, edits and revokes share the fate of their message. */
export function isTimed({ type }: OutgoingContent): boolean {
  return type !== 'reaction' && type !== 'edit' && type !== 'revoke'
}

type Referring = { mentions: readonly Person[]; quote: QuotedMessage | null }

export function contextInfo({ mentions, quote }: Referring, text: string, context: Context) {
  const { timer } = context
  if (mentions.length === 0 && !quote && !timer) return {}
  const mentioned = mentions.length > 0 ? { mentionedJid: mentions.map((person) => mentionOf(person, text)) } : {}
  return { contextInfo: { ...mentioned, ...(quote && quoteOf(quote, context)), ...(timer && encodeTimer(timer)) } }
}

/** The recipient's phone searches the text for the digits of the address. */
function mentionOf(person: Person, text: string): Jid {
  const { lid, phone } = person
  if (lid !== null && text.includes(`@${lid}`)) return lidJid(lid)
  if (phone !== null && text.includes(`@${phone}`)) return phoneJid(phone)
  return personJid(person)
}

function quoteOf({ key, text }: QuotedMessage, { chat, ownJid }: Context): proto.IContextInfo {
  const author = key.participant ?? (key.fromMe ? ownJid : key.chat)
  return {
    stanzaId: key.id,
    participant: jidNormalizedUser(author),
    quotedMessage: { conversation: text.toWellFormed() },
    ...(key.chat !== chat && { remoteJid: key.chat }),
  }
}

export function libraryKey({ chat, id, fromMe, participant }: MessageKey): proto.IMessageKey {
  return { remoteJid: chat, id, fromMe, ...(participant !== null && { participant }) }
}

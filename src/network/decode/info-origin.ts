// Reads chat, sender and time of a message that the owner's phone describes.

import { parseChat, personJid } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import type { proto } from '../library/library.ts'
import { addressed, addressOf, personOf, plainJid } from './origin.ts'
import type { Origin } from './origin.ts'
import { numberOf, textOf } from './values.ts'

type Info = Pick<proto.IWebMessageInfo, 'key' | 'participant' | 'messageTimestamp' | 'pushName'>

/** Undefined for a message that belongs to no chat. */
export function originOfInfo(info: Info, own: Person): Origin | undefined {
  const { remoteJid, id, fromMe, participant } = info.key ?? {}
  const chat = parseChat(plainJid(remoteJid ?? ''))
  if (!chat || !id) return undefined
  const member = textOf(participant) ?? textOf(info.participant) ?? (fromMe ? personJid(own) : null)
  const sender = fromMe ? own : personOf(chat.kind === 'group' ? member : remoteJid)
  if (!sender) return undefined
  const at = (numberOf(info.messageTimestamp) ?? 0) * 1000
  const envelope = { id, at, chat, sender, fromMe: fromMe === true, pushName: textOf(info.pushName) }
  return addressed(envelope, addressOf(remoteJid ?? ''), chat.kind === 'group' && member ? addressOf(member) : null)
}

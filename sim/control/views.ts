// Accounts, people, messages and groups in the JSON of the control API.
import type { SimPhone } from '../network/accounts/sim-phone.ts'
import type { SimGroup } from '../network/groups/sim-group.ts'
import { proto } from '../network/library.ts'
import { carriedMedia } from '../network/media/media-contents.ts'
import { contextOf } from '../network/people/chat-timers.ts'
import type { SimPerson } from '../network/people/sim-person.ts'
import { kindOfMessage, textOfMessage, unwrap, type ReceivedMessage } from '../network/people/received-message.ts'
import type { User } from '../network/server/user.ts'

export function accountView(phone: SimPhone): Record<string, unknown> {
  return {
    ...addressesOf(phone.user),
    name: phone.user.pushName,
    connected: phone.companions.some((device) => device.live),
    devices: phone.companions.map((device) => ({
      id: device.id,
      connection: device.live ? 'online' : device.isConnected ? 'connecting' : 'offline',
      available: device.available,
      prekeys: device.keys.preKeys.length,
      unacknowledged: device.books.unacknowledgedIds(),
      redelivered: device.books.redelivered,
      settled: device.books.settled,
    })),
  }
}

export function personView(person: SimPerson): Record<string, unknown> {
  return {
    ...addressesOf(person.user),
    push_name: person.user.pushName,
    messages: person.messages.length,
    duplicates: person.duplicates,
    undecryptable: person.undecryptable.entries,
  }
}

function addressesOf({ phone, lid, pnJid, lidJid }: User): Record<string, string> {
  return { phone, lid, jid: pnJid, lid_jid: lidJid }
}

export function messageView(received: ReceivedMessage): Record<string, unknown> {
  const content = unwrap(received.message)
  const change = content.protocolMessage
  const context = contextOf(content)
  const media = carriedMedia(received.message)
  return {
    id: received.id,
    chat: received.chat,
    from: received.from.phone,
    from_device: received.fromDevice,
    own: received.own,
    at: Number(received.stanza.attrs.t ?? '0'),
    kind: kindOfMessage(received.message),
    text: textOfMessage(received.message) ?? editedText(change),
    quote: context?.stanzaId ?? undefined,
    mentions: context?.mentionedJid ?? undefined,
    expiration: context?.expiration ?? undefined,
    reaction: content.reactionMessage
      ? { message_id: content.reactionMessage.key?.id, emoji: content.reactionMessage.text }
      : undefined,
    changes: change?.key?.id ?? undefined,
    media: media && { kind: media.kind, size: media.description.fileLength },
    message: proto.Message.create(received.message).toJSON(),
  }
}

function editedText(change: proto.Message.IProtocolMessage | null | undefined): string | undefined {
  return change?.editedMessage ? textOfMessage(change.editedMessage) : undefined
}

export function groupView(group: SimGroup): Record<string, unknown> {
  return {
    jid: group.jid,
    subject: group.subject,
    description: group.description?.body,
    locked: group.locked,
    announce: group.announce,
    ephemeral_seconds: group.ephemeralSeconds,
    addressing: group.addressing,
    creator: group.creator.phone,
    requests: [...group.admission.requests.keys()].map(({ phone }) => phone),
    participants: [...group.roles].map(([user, role]) => ({ phone: user.phone, lid: user.lid, role })),
  }
}

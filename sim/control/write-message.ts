// Turns the body of a `send` call into a message of a person or of an account's owner.
import { defined } from '../defined.ts'
import { proto } from '../network/library.ts'
import type { MediaKind } from '../network/media/media-cipher.ts'
import type { Recipient, TextOptions } from '../network/people/author.ts'
import type { Correspondent } from '../network/people/correspondent.ts'
import type { SendOptions } from '../network/people/sent-message.ts'
import type { FileAuthor } from '../network/people/file-author.ts'
import type { SimNetwork } from '../network/sim-network.ts'
import { ControlError, type Fields } from './fields.ts'

const KINDS = [
  'text',
  'image',
  'video',
  'gif',
  'audio',
  'voice',
  'document',
  'sticker',
  'location',
  'contact',
  'poll',
  'view_once',
  'raw',
] as const
type Kind = (typeof KINDS)[number]
const MEDIA: Partial<Record<Kind, MediaKind>> = {
  image: 'image',
  video: 'video',
  gif: 'video',
  audio: 'audio',
  voice: 'audio',
  document: 'document',
  sticker: 'sticker',
}

export function recipientAt(network: SimNetwork, address: string): Recipient {
  const target = network.groups.find(address) ?? network.directory.find(address)
  if (!target) throw new ControlError(404, `there is no user and no group ${address}`)
  return target
}

export function correspondentAt(network: SimNetwork, phone: string): Correspondent {
  const found = network.personAt(phone) ?? network.phone(phone)
  if (!found) throw new ControlError(404, `there is no person and no account ${phone}`)
  return found
}

/** Returns the id of the written message. */
export function writeMessage(network: SimNetwork, author: FileAuthor, body: Fields): string {
  const to = recipientAt(network, body.text('to'))
  const kind = body.oneOf('kind', KINDS, 'text')
  const options = sendOptions(body)
  const media = MEDIA[kind]
  if (media) return author.media(to, media, mediaOptions(kind, body), textOptions(network, author, body, options)).id
  if (kind === 'text') return author.text(to, body.text('text'), textOptions(network, author, body, options)).id
  if (body.has('quote') || body.has('mentions')) throw new ControlError(400, `a ${kind} can neither quote nor mention`)
  if (kind === 'location') {
    const [latitude, longitude] = [body.number('latitude'), body.number('longitude')]
    return author.location(to, latitude, longitude, body.optionalText('name'), options).id
  }
  if (kind === 'contact') return author.contactCard(to, body.text('name'), body.text('phone'), options).id
  if (kind === 'poll') return author.poll(to, body.text('text'), body.texts('options'), options).id
  if (kind === 'view_once') return author.viewOnce(to, options)
  return author.send(to, rawMessage(body.object('message')), options).id
}

/** Sets the timer of a chat with a person. Returns the id of the message that says so. */
export function setTimer(network: SimNetwork, author: FileAuthor, body: Fields): string {
  const to = recipientAt(network, body.text('to'))
  if ('members' in to) throw new ControlError(400, 'the timer of a group is set at the group')
  return author.setTimer(to, body.whole('seconds', { min: 0 }), sendOptions(body)).id
}

function rawMessage(fields: Record<string, unknown>): proto.IMessage {
  const unknown = Object.keys(fields).filter((name) => !(name in proto.Message.prototype))
  if (unknown.length > 0) throw new ControlError(400, `a message has no field ${unknown.join(', ')}`)
  try {
    return proto.Message.fromObject(fields)
  } catch (error) {
    throw new ControlError(400, `"message" is not the content of a message: ${String(error)}`)
  }
}

function sendOptions(body: Fields): SendOptions {
  const id = body.optionalText('id')
  if (id === '') throw new ControlError(400, '"id" must not be empty')
  const addressing = body.has('addressing') ? body.oneOf('addressing', ['pn', 'lid']) : undefined
  const timestamp = body.optionalWhole('timestamp', { min: 0 })
  return defined({ id, addressing, timestamp })
}

function textOptions(network: SimNetwork, author: FileAuthor, body: Fields, options: SendOptions): TextOptions {
  const quoted = body.optionalText('quote')
  const quote = quoted === undefined ? undefined : author.known(quoted)
  const mentions = body.texts('mentions').map((phone) => correspondentAt(network, phone))
  return { ...options, mentions, ...defined({ quote }) }
}

function mediaOptions(kind: Kind, body: Fields): Parameters<FileAuthor['media']>[2] {
  const media = body.nested('media')
  const bytes = media?.bytes('base64')
  if (!media || !bytes) throw new ControlError(400, '"media" needs the file in "base64"')
  const described = defined({
    mimetype: media.optionalText('mimetype'),
    fileName: media.optionalText('file_name'),
    seconds: media.optionalNumber('seconds'),
    caption: body.optionalText('text'),
  })
  return { bytes, voice: kind === 'voice', gif: kind === 'gif', ...described }
}

// The body of a request that sends a direct message.

import { Type } from 'typebox'
import type { Static } from 'typebox'
import type { DirectMessage } from '../../../bridge/outbound/direct/direct-messages.ts'
import { parseChat } from '../../../core/address.ts'
import type { Chat } from '../../../core/address.ts'
import { BridgeError } from '../../../core/errors.ts'
import { messageLimits } from '../../../core/outbox.ts'
import type { DirectContent } from '../../../core/outbox.ts'
import { readPhone } from '../../../core/phone-spelling.ts'

const maxLength = messageLimits.characters

const Place = Type.Object({
  latitude: Type.Number({ minimum: -90, maximum: 90 }),
  longitude: Type.Number({ minimum: -180, maximum: 180 }),
  name: Type.Optional(Type.String({ maxLength: 1000 })),
  address: Type.Optional(Type.String({ maxLength: 1000 })),
})

const Card = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  phone: Type.String({ minLength: 5, maxLength: 40, description: 'With its country code' }),
})

export const DirectMessageBody = Type.Object(
  {
    to: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'A phone number with its country code, or the jid of a person or a group',
    }),
    text: Type.Optional(Type.String({ minLength: 1, maxLength, description: "With WhatsApp's own marks: *bold*" })),
    media_url: Type.Optional(
      Type.String({ minLength: 1, maxLength: 2048, description: 'From where the service fetches the file' }),
    ),
    caption: Type.Optional(Type.String({ maxLength, description: 'The text of the file' })),
    location: Type.Optional(Place),
    contact: Type.Optional(Card),
    quote: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: 'The waid of the message of this chat to quote' }),
    ),
    idempotency_key: Type.Optional(
      Type.String({
        pattern: '^[ -~]{1,128}$',
        description: '1 to 128 printable ASCII characters. A repeat within 24 hours sends nothing',
      }),
    ),
  },
  { title: 'DirectMessage', description: 'Exactly one of text, media_url, location and contact' },
)
type Written = Static<typeof DirectMessageBody>

/** Throws SERVICE_BAD_REQUEST. */
export function readMessage(body: Written): DirectMessage {
  return { to: readRecipient(body.to), content: readContent(body), quote: body.quote ?? null }
}

function readRecipient(to: string): Chat {
  const phone = to.includes('@') ? undefined : readPhone(to)
  const chat: Chat | undefined = phone === undefined ? parseChat(to.trim()) : { kind: 'person', phone, lid: null }
  if (chat && !isNoNumber(chat)) return chat
  throw refusal('to is no address: give a phone number with its country code, or a jid such as 120363040000000000@g.us')
}

/** The jid of a person names a phone that cannot exist. */
function isNoNumber(chat: Chat): boolean {
  return chat.kind === 'person' && chat.phone !== null && readPhone(chat.phone) !== chat.phone
}

function readContent({ text, media_url, caption, location, contact }: Written): DirectContent {
  const contents = [text, media_url, location, contact].filter((each) => each !== undefined)
  if (contents.length !== 1) throw refusal('give exactly one of text, media_url, location and contact')
  if (caption !== undefined && media_url === undefined) throw refusal('caption goes only with media_url')
  if (media_url !== undefined) return { type: 'file', url: readUrl(media_url), caption: filled(caption) }
  if (location) {
    const { latitude, longitude, name, address } = location
    return { type: 'location', latitude, longitude, name: filled(name), address: filled(address) }
  }
  if (contact) return readCard(contact)
  if (!text?.trim()) throw refusal('text must not be empty')
  return { type: 'text', text }
}

function readCard({ name, phone: written }: Static<typeof Card>): DirectContent {
  const phone = readPhone(written)
  if (phone === undefined) throw refusal('contact.phone is no phone number: give it with its country code')
  if (name.trim() === '') throw refusal('contact.name must not be empty')
  return { type: 'contact', name, phone }
}

function readUrl(text: string): string {
  const url = URL.parse(text)
  if (url && ['http:', 'https:'].includes(url.protocol)) return url.href
  throw refusal('media_url must be an address that begins with https:// or http://')
}

function filled(text: string | undefined): string | null {
  return text?.trim() ? text : null
}

function refusal(sentence: string): BridgeError {
  return new BridgeError('SERVICE_BAD_REQUEST', sentence)
}

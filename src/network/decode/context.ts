// Decodes what a message refers to: the quoted message, the mentioned people and the advertisement.

import type { Person } from '../../core/address.ts'
import type { Ad, MessageKey, Quote } from '../../core/message.ts'
import { quoteTextOf } from '../../core/quote-text.ts'
import type { proto } from '../library/library.ts'
import { contentOf } from './content.ts'
import { addressOf, isSame, personOf } from './origin.ts'
import type { Origin } from './origin.ts'
import { unwrap } from './unwrap.ts'
import type { Unwrapped } from './unwrap.ts'
import { textOf } from './values.ts'

/** More than any group has members. */
const mostMentions = 2_000

export function contextOf({ message, part }: Unwrapped): proto.IContextInfo | undefined {
  const value = part === undefined ? undefined : message[part]
  if (value === null || typeof value !== 'object') return undefined
  return (value as { contextInfo?: proto.IContextInfo | null }).contextInfo ?? undefined
}

export function quoteOf(context: proto.IContextInfo | undefined, own: Person): Quote | null {
  const id = textOf(context?.stanzaId)
  if (!context || id === null) return null
  const sender = personOf(context.participant) ?? null
  const unwrapped = context.quotedMessage ? unwrap(context.quotedMessage) : undefined
  const quoted = unwrapped && contentOf(unwrapped)
  const mentions = unwrapped ? mentionsOf(contextOf(unwrapped)) : []
  const fromMe = sender !== null && isSame(sender, own)
  const text = quoted ? quoteTextOf(quoted) : null
  const media = quoted?.type === 'media' && text === null ? { media: quoted.media } : {}
  return { id, sender, fromMe, text, ...media, ...(mentions.length > 0 && { mentions }) }
}

export function mentionsOf(context: proto.IContextInfo | undefined): Person[] {
  return (context?.mentionedJid ?? []).slice(0, mostMentions).flatMap((jid) => personOf(jid) ?? [])
}

export function adOf(context: proto.IContextInfo | undefined): Ad | null {
  const { externalAdReply: reply, quotedAd } = context ?? {}
  const ad = {
    title: textOf(reply?.title) ?? textOf(quotedAd?.advertiserName),
    body: textOf(reply?.body) ?? textOf(quotedAd?.caption),
    url: textOf(reply?.sourceUrl),
  }
  return ad.title === null && ad.body === null && ad.url === null ? null : ad
}

/** The message that a reaction, an edit, a vote or a revoke refers to. The sender's `fromMe` is turned into ours. */
export function targetOf(key: proto.IMessageKey | null | undefined, origin: Origin, own: Person): MessageKey | null {
  const id = textOf(key?.id)
  if (!key || id === null) return null
  const { envelope, chatJid, participant } = origin
  const isTheirs = key.fromMe === true
  if (envelope.chat.kind === 'person') {
    return { chat: chatJid, id, fromMe: envelope.fromMe ? isTheirs : !isTheirs, participant: null }
  }
  const author = isTheirs ? participant : (textOf(key.participant) ?? participant)
  const person = personOf(author)
  const fromMe = person !== undefined && isSame(person, own)
  return { chat: chatJid, id, fromMe, participant: author === null ? null : addressOf(author) }
}

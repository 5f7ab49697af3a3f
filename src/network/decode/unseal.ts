// Opens votes, edits and the reactions of announcement groups, which are sealed with the secret of the message that they refer to.

import { createDecipheriv, createHash, createHmac } from 'node:crypto'
import { lidJid, phoneJid } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import type { SealedEvent } from '../../core/message.ts'
import type { UnsealedContent, Unsealing } from '../../core/network.ts'
import { cleaned, cleanText } from './clean.ts'
import { contentOf } from './content.ts'
import { contextOf, mentionsOf } from './context.ts'
import { isSame, personOf } from './origin.ts'
import { unwrap } from './unwrap.ts'
import { proto } from '../library/library.ts'

const purposes: Partial<Record<SealedEvent['purpose'], string>> = {
  poll_vote: 'Poll Vote',
  edit: 'Message Edit',
  reaction: 'Enc Reaction',
}
const tagLength = 16

/** Null when the event cannot be opened. */
export function unseal(event: SealedEvent, target: Unsealing): UnsealedContent | null {
  const plain = open(event, target)
  if (!plain) return null
  try {
    if (event.purpose === 'poll_vote') return vote(plain, target.pollOptions)
    return event.purpose === 'reaction' ? reaction(plain) : edit(plain)
  } catch {
    return null
  }
}

function vote(plain: Buffer, options: readonly string[]): UnsealedContent {
  const { selectedOptions } = proto.Message.PollVoteMessage.decode(plain)
  const chosen = new Set(selectedOptions.map((hash) => Buffer.from(hash).toString('hex')))
  const picked = options.filter((option) => chosen.has(createHash('sha256').update(option).digest('hex')))
  return { type: 'poll_vote', options: picked }
}

function reaction(plain: Buffer): UnsealedContent {
  return { type: 'reaction', emoji: cleanText(proto.Message.ReactionMessage.decode(plain).text ?? '') }
}

function edit(plain: Buffer): UnsealedContent | null {
  const { message } = unwrap(proto.Message.decode(plain))
  const edited = message.protocolMessage?.editedMessage ?? message
  const unwrapped = unwrap(edited)
  const content = contentOf(unwrapped)
  return content ? { type: 'edit', content: cleaned(content), mentions: mentionsOf(contextOf(unwrapped)) } : null
}

/** The key is derived from both jids, by phone or by LID as the sender knew them. So every combination is tried. */
function open(event: SealedEvent, target: Unsealing): Buffer | undefined {
  const purpose = purposes[event.purpose]
  const payload = Buffer.from(event.payload, 'base64')
  if (purpose === undefined || payload.length <= tagLength) return undefined
  const own = personOf(target.ownJid)
  const authors = jidsOf(target.sender, own)
  for (const author of authors) {
    for (const voter of jidsOf(event.sender, own)) {
      const plain = attempt({ event, payload, purpose, author, voter, secret: target.secret })
      if (plain) return plain
    }
  }
  return undefined
}

type Attempt = {
  event: SealedEvent
  payload: Buffer
  purpose: string
  author: string
  voter: string
  secret: string
}

function attempt({ event, payload, purpose, author, voter, secret }: Attempt): Buffer | undefined {
  const { id } = event.target
  const first = createHmac('sha256', Buffer.alloc(32)).update(Buffer.from(secret, 'base64')).digest()
  const key = createHmac('sha256', first)
    .update(id + author + voter + purpose)
    .update(Buffer.from([1]))
    .digest()
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(event.iv, 'base64'))
    if (event.purpose === 'poll_vote') decipher.setAAD(Buffer.from(`${id}\u0000${voter}`))
    decipher.setAuthTag(payload.subarray(-tagLength))
    return Buffer.concat([decipher.update(payload.subarray(0, -tagLength)), decipher.final()])
  } catch {
    return undefined
  }
}

function jidsOf(person: Person, own: Person | undefined): string[] {
  const complete =
    own && isSame(person, own) ? { phone: person.phone ?? own.phone, lid: person.lid ?? own.lid } : person
  const { phone, lid } = complete
  return [...(phone === null ? [] : [phoneJid(phone)]), ...(lid === null ? [] : [lidJid(lid)])]
}

// Everything a simulated person or an account's owner can write, as one verb per kind of message.
import type { proto } from '../library.ts'
import type { MediaKind } from '../media/media-cipher.ts'
import { downloadMedia, mediaMessage, type MediaOptions } from '../media/media-contents.ts'
import { User } from '../server/user.ts'
import { isLidJid } from '../wire/jid.ts'
import { stanza } from '../wire/stanza.ts'
import * as contents from './contents.ts'
import { Correspondent, type ChatTarget, type SendOptions, type SentMessage } from './correspondent.ts'
import type { ReceivedMessage } from './received-message.ts'

export type Recipient = Correspondent | ChatTarget
export type TextOptions = SendOptions & { quote?: SentMessage | ReceivedMessage; mentions?: Correspondent[] }
export type TypingState = 'composing' | 'recording' | 'paused'

export class Author extends Correspondent {
  send(to: Recipient, message: proto.IMessage, options: SendOptions = {}): SentMessage {
    return this.write(chatOf(to), message, options)
  }

  text(to: Recipient, body: string, { quote, mentions = [], ...options }: TextOptions = {}): SentMessage {
    if (!quote && mentions.length === 0) return this.send(to, contents.text(body), options)
    const contextInfo = this.#context(quote, mentions, this.#isLid(to, options))
    return this.send(to, contents.text(body, contextInfo), options)
  }

  /** An empty emoji takes the reaction back. */
  react(to: SentMessage | ReceivedMessage, emoji: string): SentMessage {
    return this.#aside(to, contents.reaction(this.refTo(to), emoji, this.parts.clock.now()))
  }

  edit(sent: SentMessage, body: string): SentMessage {
    return this.#aside(sent, contents.edit(this.refTo(sent), body, this.parts.clock.now()))
  }

  revoke(sent: SentMessage | ReceivedMessage): SentMessage {
    return this.#aside(sent, contents.revoke(this.refTo(sent)))
  }

  location(to: Recipient, latitude: number, longitude: number, name?: string, options?: SendOptions): SentMessage {
    return this.send(to, contents.location(latitude, longitude, name), options)
  }

  contactCard(to: Recipient, displayName: string, phone: string, options?: SendOptions): SentMessage {
    return this.send(to, contents.contactCard(displayName, phone), options)
  }

  /** A file of any kind; it is on the media host when this returns. */
  media(to: Recipient, kind: MediaKind, media: MediaOptions, options: TextOptions = {}): SentMessage {
    const { quote, mentions = [], ...sending } = options
    const contextInfo = this.#context(quote, mentions, this.#isLid(to, sending))
    const described = quote || mentions.length > 0 ? { ...media, contextInfo } : media
    const message = mediaMessage(kind, described, {
      host: this.parts.media,
      random: this.random,
      clock: this.parts.clock,
    })
    return this.send(to, message, sending)
  }

  /** The file of a message, fetched from the media host and checked against every hash. */
  download(received: ReceivedMessage): Buffer {
    return downloadMedia(received.message, this.parts.media)
  }

  poll(to: Recipient, question: string, answers: string[], options?: SendOptions): SentMessage {
    return this.send(to, contents.poll(question, answers, this.random.bytes(32)), options)
  }

  vote(poll: ReceivedMessage | SentMessage, answers: string[]): SentMessage {
    const secret = poll.message.messageContextInfo?.messageSecret
    if (!secret) throw new Error(`message ${poll.id} is not a poll with a secret`)
    const creator = 'stanza' in poll ? poll.from : this.user
    const lid = this.#addressingOf(poll) === 'lid'
    const vote = contents.pollVote(answers, {
      poll: this.refTo(poll),
      pollCreator: creator.jid(lid ? 'lid' : 'pn'),
      voter: this.user.jid(lid ? 'lid' : 'pn'),
      secret,
      iv: this.random.bytes(12),
      at: this.parts.clock.now(),
    })
    return this.#aside(poll, vote)
  }

  /** A picture to be seen once: phones get it, companions get to know that there was one. */
  viewOnce(to: Recipient, options: SendOptions = {}): string {
    const notice = stanza('unavailable', { type: 'view_once_unavailable_fanout' })
    const message = { viewOnceMessageV2: { message: { imageMessage: { viewOnce: true } } } }
    return this.writeNotice(chatOf(to), notice, message, options)
  }

  typing(to: Recipient, state: TypingState = 'composing', addressing = this.parts.addressing): void {
    const chat = chatOf(to)
    const jid = chat instanceof User ? chat.jid(addressing) : chat.jid
    const node = stanza(state === 'paused' ? 'paused' : 'composing', state === 'recording' ? { media: 'audio' } : {})
    this.parts.receipts.chatstate(this.device, jid, node, chat instanceof User ? undefined : chat.members())
  }

  #aside(to: SentMessage | ReceivedMessage, message: proto.IMessage): SentMessage {
    const addressing = this.#addressingOf(to)
    if (!('stanza' in to)) return this.write(to.chat, message, { addressing })
    return this.write(this.chatTarget(to.chat), message, { addressing })
  }

  #addressingOf(one: SentMessage | ReceivedMessage): 'pn' | 'lid' {
    if (!('stanza' in one)) return one.addressing
    return isLidJid(one.stanza.attrs.participant ?? one.stanza.attrs.from ?? '') ? 'lid' : 'pn'
  }

  #quoted(one: SentMessage | ReceivedMessage, lid: boolean): contents.Quoted {
    const author = ('stanza' in one ? one.from : this.user).jid(lid ? 'lid' : 'pn')
    return { ref: this.refTo(one), author, message: one.message }
  }

  #context(quote: TextOptions['quote'], mentions: Correspondent[], lid: boolean): proto.IContextInfo {
    const mentioned = mentions.map((one) => one.user.jid(lid ? 'lid' : 'pn'))
    return contents.contextInfo(quote && this.#quoted(quote, lid), mentioned)
  }

  #isLid(to: Recipient, options: SendOptions): boolean {
    const chat = chatOf(to)
    const addressing = chat instanceof User ? (options.addressing ?? this.parts.addressing) : chat.addressing
    return addressing === 'lid'
  }
}

export function chatOf(to: Recipient): ChatTarget {
  return to instanceof Correspondent ? to.user : to
}

// The messages that a simulated person or an account's owner can write, one method per kind.
import { proto } from '../library.ts'
import { User } from '../server/user.ts'
import { isLidJid, STATUS_JID } from '../wire/jid.ts'
import { stanza, unixSeconds } from '../wire/stanza.ts'
import { timerSetting } from './chat-timers.ts'
import * as contents from './contents.ts'
import { Correspondent } from './correspondent.ts'
import type { ReceivedMessage } from './received-message.ts'
import * as rich from './rich-contents.ts'
import * as sealed from './sealed-contents.ts'
import type { ChatTarget, SendOptions, SentMessage } from './sent-message.ts'

export type Recipient = Correspondent | ChatTarget
export type TextOptions = SendOptions & {
  quote?: SentMessage | ReceivedMessage
  mentions?: Correspondent[]
  /** Other facts about the message: an ad it came from, forwarding, a timer. */
  context?: proto.IContextInfo
}
export type TypingState = 'composing' | 'recording' | 'paused'

export class Author extends Correspondent {
  send(to: Recipient, message: proto.IMessage, options: SendOptions = {}): SentMessage {
    return this.write(chatOf(to), message, options)
  }

  text(to: Recipient, body: string, options: TextOptions = {}): SentMessage {
    return this.send(to, contents.text(body, this.contextFor(to, options)), options)
  }

  /** Sets after how many seconds the messages of a chat disappear; 0 lets them stay. A group has `setEphemeral`. */
  setTimer(to: Recipient, seconds: number, options: SendOptions = {}): SentMessage {
    const chat = chatOf(to)
    if (!(chat instanceof User)) throw new Error('the timer of a group is set at the group')
    const setAt = options.timestamp ?? Number(unixSeconds(this.parts.clock))
    const sent = this.write(chat, timerSetting({ seconds, setAt }), options)
    this.timers.set(chat, { seconds, setAt, initiator: proto.DisappearingMode.Initiator.CHANGED_IN_CHAT })
    return sent
  }

  /** Presses a button of a message. The reply quotes that message. */
  buttonReply(to: Recipient, choice: rich.Choice, quote: SentMessage | ReceivedMessage): SentMessage {
    return this.send(to, rich.buttonReply(choice, this.contextFor(to, { quote }) ?? {}))
  }

  listReply(to: Recipient, choice: rich.Choice, quote: SentMessage | ReceivedMessage): SentMessage {
    return this.send(to, rich.listReply(choice, this.contextFor(to, { quote }) ?? {}))
  }

  /** An empty emoji removes the reaction. */
  react(to: SentMessage | ReceivedMessage, emoji: string): SentMessage {
    return this.#aside(to, contents.reaction(this.refTo(to), emoji, this.parts.clock.now()))
  }

  edit(sent: SentMessage, body: string): SentMessage {
    return this.#aside(
      sent,
      contents.edit(this.refTo(sent), rich.editedContent(sent.message, body), this.parts.clock.now()),
    )
  }

  /** An edit as newer phones send it. It needs a message that was sent with a secret. */
  sealedEdit(sent: SentMessage, body: string, options: { mentions?: Correspondent[] } = {}): SentMessage {
    const context = this.contextFor(sent.chat, { ...options, addressing: sent.addressing })
    const edited = context ? contents.text(body, context) : rich.editedContent(sent.message, body)
    return this.#aside(sent, sealed.sealedEdit(edited, this.#sealOf(sent)))
  }

  /** A reaction as phones send it in the announcement group of a community. */
  sealedReaction(about: ReceivedMessage | SentMessage, emoji: string): SentMessage {
    return this.#aside(about, sealed.sealedReaction(emoji, this.#sealOf(about)))
  }

  revoke(sent: SentMessage | ReceivedMessage): SentMessage {
    return this.#aside(sent, contents.revoke(this.refTo(sent)))
  }

  location(to: Recipient, latitude: number, longitude: number, name?: string, options?: SendOptions): SentMessage {
    return this.send(to, contents.location(latitude, longitude, name), options)
  }

  liveLocation(to: Recipient, place: rich.Place, options?: SendOptions): SentMessage {
    return this.send(to, rich.liveLocation(place), options)
  }

  contactCards(to: Recipient, cards: rich.Card[], options?: SendOptions): SentMessage {
    return this.send(to, rich.contactCards(cards), options)
  }

  contactCard(to: Recipient, displayName: string, phone: string, options?: SendOptions): SentMessage {
    return this.send(to, contents.contactCard(displayName, phone), options)
  }

  poll(to: Recipient, question: string, answers: string[], options?: SendOptions): SentMessage {
    return this.send(to, contents.poll(question, answers, this.random.bytes(32)), options)
  }

  vote(poll: ReceivedMessage | SentMessage, answers: string[]): SentMessage {
    return this.#aside(poll, sealed.pollVote(answers, this.#sealOf(poll)))
  }

  /** A status update. Every account gets it, and it belongs to no chat. */
  status(body: string, options: Pick<SendOptions, 'carrier'> = {}): SentMessage {
    const audience = this.parts.findGroup(STATUS_JID)
    if (!audience) throw new Error('this network has no audience for status updates')
    return this.write(audience, { extendedTextMessage: { text: body } }, options)
  }

  typing(to: Recipient, state: TypingState = 'composing', addressing = this.parts.addressing): void {
    const chat = chatOf(to)
    const jid = chat instanceof User ? chat.jid(addressing) : chat.jid
    const node = stanza(state === 'paused' ? 'paused' : 'composing', state === 'recording' ? { media: 'audio' } : {})
    this.parts.receipts.chatstate(this.device, jid, node, chat instanceof User ? undefined : chat.members())
  }

  protected contextFor(to: Recipient, options: TextOptions): proto.IContextInfo | undefined {
    const { quote, mentions = [], context } = options
    if (!quote && mentions.length === 0) return context
    const lid = this.#isLid(to, options)
    const mentioned = mentions.map((one) => one.user.jid(lid ? 'lid' : 'pn'))
    return { ...context, ...contents.contextInfo(quote && this.#quoted(quote, lid), mentioned) }
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

  #sealOf(about: SentMessage | ReceivedMessage): sealed.Seal {
    const secret = about.message.messageContextInfo?.messageSecret
    if (!secret) throw new Error(`message ${about.id} was sent without a secret`)
    const addressing = this.#addressingOf(about)
    const author = ('stanza' in about ? about.from : this.user).jid(addressing)
    const sealer = this.user.jid(addressing)
    return { about: this.refTo(about), author, sealer, secret, iv: this.random.bytes(12), at: this.parts.clock.now() }
  }

  #quoted(one: SentMessage | ReceivedMessage, lid: boolean): contents.Quoted {
    const author = ('stanza' in one ? one.from : this.user).jid(lid ? 'lid' : 'pn')
    return { ref: this.refTo(one), author, message: one.message }
  }

  #isLid(to: Recipient, options: SendOptions): boolean {
    const chat = chatOf(to)
    return this.addressingIn(chat, options.addressing) === 'lid'
  }
}

export function chatOf(to: Recipient): ChatTarget {
  return to instanceof Correspondent ? to.user : to
}

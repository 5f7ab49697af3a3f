// What the customers do on their phones.

import { readFile } from 'node:fs/promises'
import type { SimGroup } from '../sim/network/groups/sim-group.ts'
import type { SimCall } from '../sim/network/people/sim-call.ts'
import type { ReceivedMessage } from '../sim/network/people/received-message.ts'
import type { SentMessage } from '../sim/network/people/sent-message.ts'
import type { SimPerson } from '../sim/network/people/sim-person.ts'
import { DemoError } from './demo-error.ts'
import { chatOf } from './passages.ts'
import type { Passages } from './passages.ts'
import type { Stage } from './stage.ts'
import type { MessageKind, Passage } from './view.ts'

/** What a customer wrote, for the phone on the screen. */
export type Written = {
  sent: SentMessage
  author: SimPerson
  kind: MessageKind
  text: string
  at: number
  /** The id of the message that this one answers. */
  quotes: string | null
  isDeleted: boolean
  isEdited: boolean
}

const [photo, voiceNote] = await Promise.all(
  ['photo.jpg', 'voice-note.ogg'].map((name) => readFile(new URL(`files/${name}`, import.meta.url))),
)
const voiceSeconds = 3

export class Customer {
  readonly written: Written[] = []
  /** The emoji by the id of the message that has it. */
  readonly reactions = new Map<string, string>()
  readonly #stage: Stage
  readonly #passages: Passages
  #group: SimGroup | undefined
  #call: SimCall | undefined

  constructor(stage: Stage, passages: Passages) {
    this.#stage = stage
    this.#passages = passages
  }

  get group(): SimGroup | undefined {
    return this.#group
  }

  get isCalling(): boolean {
    return this.#call !== undefined
  }

  write(text: string): Passage {
    return this.#keep('text', text, this.#maria.text(this.#stage.phone, text))
  }

  /** The customer on the screen joins the talk of her group. */
  answerInGroup(text: string): Passage {
    if (!this.#group) throw new DemoError('There is no group yet: press Group first.')
    return this.#keep('group', text, this.#maria.text(this.#group, text))
  }

  quote(text: string): Passage {
    const quote = this.#lastAnswer()
    const sent = this.#maria.text(this.#stage.phone, text, { quote })
    return this.#keep('quote', text, sent, { quotes: quote.id })
  }

  sendPhoto(caption: string): Passage {
    const sent = this.#maria.media(this.#stage.phone, 'image', { bytes: need(photo), caption })
    return this.#keep('photo', caption, sent)
  }

  sendVoiceNote(): Passage {
    const media = { bytes: need(voiceNote), voice: true, seconds: voiceSeconds }
    return this.#keep('voice', '', this.#maria.media(this.#stage.phone, 'audio', media))
  }

  /** The newest answer in the chat with the shop gets an emoji. */
  react(emoji: string): Passage {
    const answer = this.#lastAnswer()
    this.reactions.set(answer.id, emoji)
    return this.#passages.customerWrote('reaction', this.#maria.react(answer, emoji).id)
  }

  edit(text: string): Passage {
    const last = this.#lastWritten()
    const { id } = this.#maria.edit(last.sent, text)
    Object.assign(last, { text, isEdited: true })
    return this.#passages.customerWrote('edit', id)
  }

  delete(): Passage {
    const last = this.#lastWritten()
    const { id } = this.#maria.revoke(last.sent)
    last.isDeleted = true
    return this.#passages.customerWrote('delete', id)
  }

  /** A second customer writes in a group of which the shop is a member. */
  writeInGroup(subject: string, text: string): Passage {
    const { phone, maria, rui, world } = this.#stage
    this.#group ??= world.network.group(subject, maria, [phone, rui])
    return this.#keep('group', text, rui.text(this.#group, text), { author: rui })
  }

  /** The phone rings until the caller hangs up. */
  call(): Passage {
    if (this.#call) throw new DemoError('The customer is calling already.')
    this.#call = this.#maria.call(this.#stage.phone)
    return this.#passages.customerWrote('call', this.#call.id)
  }

  hangUp(): void {
    this.#call?.end(true)
    this.#call = undefined
    this.#stage.changed()
  }

  /** The picture, or the recording, of a message on this phone. */
  fileOf(id: string): { bytes: Buffer; type: string } {
    const message = this.#maria.known(id)
    if ('stanza' in message) return { bytes: this.#maria.download(message), type: 'image/jpeg' }
    const isVoice = message.message.audioMessage != null
    return isVoice ? { bytes: need(voiceNote), type: 'audio/ogg' } : { bytes: need(photo), type: 'image/jpeg' }
  }

  get #maria(): SimPerson {
    return this.#stage.maria
  }

  #keep(kind: MessageKind, text: string, sent: SentMessage, more: Partial<Written> = {}): Passage {
    const fresh = { sent, author: this.#maria, kind, text, at: Date.now(), quotes: null }
    this.written.push({ ...fresh, isDeleted: false, isEdited: false, ...more })
    return this.#passages.customerWrote(kind, sent.id)
  }

  #lastAnswer(): ReceivedMessage {
    const last = this.#maria.messages.entries.findLast(
      ({ own, message, from, chat }) =>
        !own && from === this.#stage.phone.user && !message.protocolMessage && chatOf(chat) === 'customer',
    )
    if (!last) throw new DemoError('There is no answer yet: answer the customer first.')
    return last
  }

  #lastWritten(): Written {
    const isText = ({ kind, isDeleted }: Written) => (kind === 'text' || kind === 'quote') && !isDeleted
    const last = this.written.findLast(isText)
    if (!last) throw new DemoError('The customer has no text left to change: let the customer write first.')
    return last
  }
}

function need(bytes: Buffer | undefined): Buffer {
  if (!bytes) throw new Error('a file of the demo is missing')
  return bytes
}

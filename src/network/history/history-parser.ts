// Splits the encoded history into its messages and its other fields while its bytes come. One field is in memory at a time.

import { fieldHead } from '../library/wire-fields.ts'
import type { FieldHead } from '../library/wire-fields.ts'
import { ByteQueue } from './byte-queue.ts'
import { HistoryError } from './history-error.ts'

/** `whole` is a field as it is encoded, with its key. `value` is the field without its key and length. All bytes belong to a larger buffer: a part that is kept is copied. */
export type HistoryPart =
  | { type: 'field'; whole: Buffer }
  | { type: 'chat' }
  | { type: 'chat field'; number: number; whole: Buffer; value: Buffer }
  /** A HistorySyncMsg of the chat that began last. */
  | { type: 'message'; bytes: Buffer }
  | { type: 'chat end' }
  /** A field, or a message of the current chat, is skipped. */
  | { type: 'too large' }

/** Fields of a HistorySync. */
const conversations = 2
/** Status updates, stickers, former members and calls, which are large and which the service does not use. */
const unusedFields = new Set([3, 11, 12, 13])
/** Fields of a Conversation. */
const messages = 2
const members = 20

const lengthDelimited = 2
/** The key of a field and its length. */
const longestHead = 20
const largestMessage = 8 * 1024 * 1024
const largestField = 1024 * 1024

export class HistoryParser {
  readonly #bytes = new ByteQueue()
  /** How many bytes of the current chat are still to come. Undefined between chats. */
  #chatLeft: number | undefined
  #toSkip = 0

  /** Throws a HistoryError if the history is not complete. */
  end(): void {
    if (this.#chatLeft === undefined && this.#toSkip === 0 && this.#bytes.length === 0) return
    throw new HistoryError('the history ends in the middle of a field')
  }

  /** Throws a HistoryError if the bytes are no history. */
  *read(chunk: Buffer): Generator<HistoryPart> {
    this.#bytes.push(chunk)
    for (;;) {
      if (this.#toSkip > 0) this.#toSkip -= this.#bytes.skip(this.#toSkip)
      if (this.#toSkip > 0) return
      if (this.#chatLeft === 0) {
        this.#chatLeft = undefined
        yield { type: 'chat end' }
        continue
      }
      const head = this.#head()
      if (!head) return
      const part =
        this.#chatLeft === undefined && isMessage(head, conversations) ? this.#beginChat(head) : this.#field(head)
      if (part === 'incomplete') return
      if (part) yield part
    }
  }

  /** Undefined if the head of the next field has not come yet. */
  #head(): FieldHead | undefined {
    const ahead = this.#bytes.peek(longestHead)
    const head = fieldHead(ahead)
    if (head) return head
    if (ahead.length === longestHead || head === null)
      throw new HistoryError('the history has a field that cannot be read')
    return undefined
  }

  #beginChat({ headLength, bodyLength }: FieldHead): HistoryPart {
    this.#bytes.skip(headLength)
    this.#chatLeft = bodyLength
    return { type: 'chat' }
  }

  /** Undefined for a field that is skipped. */
  #field(head: FieldHead): HistoryPart | 'incomplete' | undefined {
    const { number, headLength, bodyLength } = head
    const length = headLength + bodyLength
    const isInChat = this.#chatLeft !== undefined
    if (this.#chatLeft !== undefined && length > this.#chatLeft) {
      throw new HistoryError('the history has a field that is longer than its chat')
    }
    const isUnused = isInChat ? number === members : unusedFields.has(number)
    const isMessageOfChat = isInChat && isMessage(head, messages)
    const isTooLarge = bodyLength > (isMessageOfChat ? largestMessage : largestField)
    if (!isUnused && !isTooLarge && this.#bytes.length < length) return 'incomplete'
    if (this.#chatLeft !== undefined) this.#chatLeft -= length
    if (isUnused || isTooLarge) {
      this.#toSkip = length
      return isUnused ? undefined : { type: 'too large' }
    }
    const whole = this.#bytes.take(length)
    if (isMessageOfChat) return { type: 'message', bytes: whole.subarray(headLength) }
    return isInChat
      ? { type: 'chat field', number, whole, value: whole.subarray(headLength) }
      : { type: 'field', whole }
  }
}

function isMessage({ number, wireType }: FieldHead, expected: number): boolean {
  return number === expected && wireType === lengthDelimited
}

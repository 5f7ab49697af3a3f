// What the network tells beside messages: receipts, typing and changed pictures.

import type { Chat, Person } from './address.ts'
import type { InstanceName, NetworkMessageId } from './ids.ts'

/**
 * delivered   a device of the recipient has the messages
 * read        the recipient has seen them
 * played      the recipient has listened to them
 * read_self   the owner of the account has read the chat on the phone
 * other       any other receipt, such as the one of a device of the owner that got its copy
 */
export type ReceiptType = 'delivered' | 'read' | 'played' | 'read_self' | 'other'

export type Receipt = {
  type: ReceiptType
  chat: Chat
  /** Who sent the receipt: in a group one of its members. Null when the network does not say. */
  from: Person | null
  ids: readonly NetworkMessageId[]
  /** Epoch milliseconds, as the network tells them. */
  at: number
}

/** `off` means that the person stopped, or that the network says nothing of the person any more. */
export type TypingNotice = { chat: Chat; who: Person; state: 'typing' | 'recording' | 'off' }

/** A person or a group has another picture. `pictureId` is null when the picture was removed or is not known. */
export type PictureChange = { owner: Chat; pictureId: string | null }

/** A picture as the network has it now. `id` changes with every new picture. `read` fetches the file. */
export type ProfilePicture = { id: string; read: () => Promise<Buffer> }

/** `hidden`: the account may not see the picture. */
export type NoPicture = 'none' | 'hidden'

/** The network is asked too often. The next question must wait for `retryAfterMs`. */
export class NetworkBusyError extends Error {
  readonly retryAfterMs: number

  constructor(retryAfterMs: number, reason: string, options?: { cause: unknown }) {
    super(reason, options)
    this.name = 'NetworkBusyError'
    this.retryAfterMs = retryAfterMs
  }
}

/** Listens to what the network tells beside messages. An implementation must not throw and must return quickly. */
export type RealtimeReception = {
  /**
   * The network is told that we have the receipts when the promise has resolved; without a promise at once. If the connection
   * ends before (`gone`), the network tells of the receipts again.
   */
  onReceipts(instance: InstanceName, receipts: readonly Receipt[], gone: AbortSignal): Promise<void> | undefined
  onTyping(instance: InstanceName, notice: TypingNotice): void
  onPictureChanged(instance: InstanceName, change: PictureChange): void
}

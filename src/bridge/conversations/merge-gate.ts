// Keeps messages and new conversations away from a contact while the helpdesk merges it into another one.
//
// Chatwoot moves the conversations and the messages of the contact and then removes the contact. It also removes what the
// contact got in between. So each post and each new conversation passes this gate. The gate is closed for the contact that stays,
// too: another merge must not remove it while it gets the conversations of the first one.

import type { DestinationKey } from '../../core/ids.ts'
import { SharedKeys } from '../../lib/queues/shared-keys.ts'

export class MergeGate {
  readonly #keys = new SharedKeys()

  /** Posts into the conversation. Waits while its contact is being merged: the conversation goes on afterwards. */
  post<T>(
    destination: DestinationKey,
    conversationId: number,
    work: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    return this.#keys.share(conversationKey(destination, conversationId), work, signal)
  }

  /** Gives the contact a conversation. A contact that was merged meanwhile is found again. */
  async withContact<Contact extends { id: number }, T>(
    destination: DestinationKey,
    find: () => Promise<Contact>,
    work: (contact: Contact) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const contact = await find()
      const key = contactKey(destination, contact.id)
      const closed = this.#keys.closed(key)
      if (!closed) return this.#keys.share(key, () => work(contact))
      await closed
    }
  }

  /** Runs the merge while `drop` gets nothing. `conversations` is asked when it gets no new one any more. */
  merge<T>(
    destination: DestinationKey,
    { keep, drop }: { keep: number; drop: number },
    conversations: () => Promise<readonly number[]>,
    work: () => Promise<T>,
  ): Promise<T> {
    return this.#keys.close([contactKey(destination, keep), contactKey(destination, drop)], async () => {
      const ids = await conversations()
      return this.#keys.close(
        ids.map((id) => conversationKey(destination, id)),
        work,
      )
    })
  }
}

function contactKey(destination: DestinationKey, id: number): string {
  return `contact|${destination}|${id}`
}

function conversationKey(destination: DestinationKey, id: number): string {
  return `conversation|${destination}|${id}`
}

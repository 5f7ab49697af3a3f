// Creates a conversation. A repetition after a lost answer waits until the lost conversation would have appeared.

import { DownstreamError, inboxPlace } from '../../core/downstream.ts'
import type { Contact } from '../../core/helpdesk/contact.ts'
import type { BoundedMap } from '../../lib/bounded-map.ts'
import type { ChatwootClient } from '../chatwoot-client.ts'
import { readConversation } from '../chatwoot-json.ts'
import type { FoundConversation } from '../chatwoot-json.ts'
import { findBySourceId } from '../contact-finder.ts'

type Creation = {
  contact: Pick<Contact, 'id' | 'sourceId'>
  /** Awaited before the request. Rejects when no conversation may be created now. */
  beforeCreation: () => Promise<void>
  /** Sent besides the contact and its address. */
  fields?: object
  /** Distinguishes conversations of one contact that are created side by side. */
  mark?: string
}

/** Chatwoot says that the contact's address exists already. */
class AddressTaken extends DownstreamError {}

export async function createConversation(
  client: ChatwootClient,
  { contact: { id, sourceId }, beforeCreation, fields = {}, mark = '' }: Creation,
  /** Conversations whose creation has an unknown outcome. */
  uncertain: BoundedMap<true>,
): Promise<FoundConversation> {
  const { inboxId } = client.destination
  const uncertainKey = [inboxPlace(client.destination), sourceId, mark].join('|')
  if (uncertain.has(uncertainKey)) {
    const reason = 'a conversation may have been opened a moment ago: looking for it before opening another one'
    throw new DownstreamError('transient', reason, { retryAfterMs: 2000 })
  }
  await beforeCreation()
  const json = { inbox_id: inboxId, contact_id: id, source_id: sourceId, ...fields }
  try {
    const call = { method: 'POST', path: '/conversations', about: 'contact', json, read: readConversation } as const
    return await client.ask(call)
  } catch (error) {
    if (!(error instanceof DownstreamError)) throw error
    if (error.mayHaveHappened) uncertain.set(uncertainKey, true)
    // Chatwoot answers the same 404 for a missing contact and for a missing inbox.
    if (error.failure === 'gone') await client.probe()
    if (error.status !== 422 || !error.message.includes('source_id')) throw error
    throw new AddressTaken('transient', 'the address of the contact is being created elsewhere', { cause: error })
  }
}

/** Tries a second time when a parallel caller made the address for this contact a moment ago. */
export async function againWhenTaken<T>(
  client: ChatwootClient,
  contact: Pick<Contact, 'id' | 'sourceId'>,
  findOrCreate: () => Promise<T>,
): Promise<T> {
  try {
    return await findOrCreate()
  } catch (error) {
    if (!(error instanceof AddressTaken)) throw error
    const owner = await findBySourceId(client, contact.sourceId)
    if (owner?.id !== contact.id) {
      throw new DownstreamError('gone', 'the address of the contact belongs to another one by now', { cause: error })
    }
    // The parallel caller may have made the conversation too.
    return findOrCreate()
  }
}

// Finds the conversation of a contact, or opens one. Never opens two.

import { DownstreamError, inboxPlace } from '../core/downstream.ts'
import type { Contact, Conversation } from '../core/downstream.ts'
import type { BoundedMap } from '../lib/bounded-map.ts'
import type { ChatwootClient } from './chatwoot-client.ts'
import { findBySourceId } from './contact-finder.ts'
import { readConversation, readConversations } from './chatwoot-json.ts'
import type { FoundConversation } from './chatwoot-json.ts'

export type Wanted = {
  contact: Pick<Contact, 'id' | 'sourceId'>
  mode: 'new' | 'reopen'
  except: readonly number[]
  beforeCreation: () => Promise<void>
}

// The form of the source ids that Chatwoot makes up when an agent starts a conversation.
const sourceIdOfAgents = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Chatwoot says that the contact's address exists already. */
class AddressTaken extends DownstreamError {}

export async function ensureConversation(
  client: ChatwootClient,
  wanted: Wanted,
  /** Conversations whose creation has an unknown outcome. */
  uncertain: BoundedMap<true>,
): Promise<Conversation> {
  const findOrCreate = async () => (await find(client, wanted)) ?? (await create(client, wanted, uncertain))
  try {
    return await findOrCreate()
  } catch (error) {
    if (!(error instanceof AddressTaken)) throw error
    const owner = await findBySourceId(client, wanted.contact.sourceId)
    if (owner?.id !== wanted.contact.id) {
      throw new DownstreamError('gone', 'the address of the contact belongs to another one by now', { cause: error })
    }
    // A parallel caller made the address for this contact a moment ago, and perhaps the conversation too.
    return findOrCreate()
  }
}

async function find(client: ChatwootClient, wanted: Wanted): Promise<Conversation | undefined> {
  const { contact, mode } = wanted
  const ours = without(wanted, await listBySourceId(client, contact.sourceId))
  const open = newest(ours.filter(isOpen))
  if (open) return toConversation(open)
  const all = [...ours, ...without(wanted, await listByAgents(client, contact.id))]
  const other = newest(all.filter(isOpen)) ?? newest(all.filter((each) => mode === 'reopen' || each.isBlocked))
  return other && toConversation(other)
}

function listBySourceId(client: ChatwootClient, sourceId: string): Promise<FoundConversation[]> {
  const { inboxId } = client.destination
  const path = `/conversations?inbox_id=${inboxId}&status=all&source_id=${encodeURIComponent(sourceId)}`
  return client.ask({ method: 'GET', path, about: 'inbox', read: readConversations })
}

/** Conversations that agents have started with this contact in our inbox. They have another source id. */
async function listByAgents(client: ChatwootClient, contactId: number): Promise<FoundConversation[]> {
  const path = `/contacts/${contactId}/conversations`
  const found = await client.ask({ method: 'GET', path, about: 'contact', read: readConversations })
  return found.filter(
    ({ inboxId, sourceId }) => inboxId === client.destination.inboxId && sourceIdOfAgents.test(sourceId ?? ''),
  )
}

async function create(
  client: ChatwootClient,
  { contact: { id, sourceId }, beforeCreation }: Wanted,
  uncertain: BoundedMap<true>,
): Promise<Conversation> {
  const { inboxId } = client.destination
  const uncertainKey = `${inboxPlace(client.destination)}|${sourceId}`
  if (uncertain.has(uncertainKey)) {
    const reason = 'a conversation may have been opened a moment ago: looking for it before opening another one'
    throw new DownstreamError('transient', reason, { retryAfterMs: 2000 })
  }
  await beforeCreation()
  const json = { inbox_id: inboxId, contact_id: id, source_id: sourceId }
  try {
    const call = { method: 'POST', path: '/conversations', about: 'contact', json, read: readConversation } as const
    return toConversation(await client.ask(call))
  } catch (error) {
    if (!(error instanceof DownstreamError)) throw error
    if (error.mayHaveHappened) uncertain.set(uncertainKey, true)
    // Chatwoot answers the same 404 for a missing contact and for a missing inbox.
    if (error.failure === 'gone') await client.probe()
    if (error.status !== 422 || !error.message.includes('source_id')) throw error
    throw new AddressTaken('transient', 'the address of the contact is being created elsewhere', { cause: error })
  }
}

function without({ except }: Wanted, found: readonly FoundConversation[]): FoundConversation[] {
  return found.filter(({ id }) => !except.includes(id))
}

function isOpen({ status }: FoundConversation): boolean {
  return status !== 'resolved'
}

function newest(found: readonly FoundConversation[]): FoundConversation | undefined {
  return found.toSorted((a, b) => b.id - a.id).at(0)
}

export function toConversation(found: FoundConversation): Conversation {
  const { id, status, inboxId, contactId, newestMessageId, callbackSign } = found
  return { id, status, inboxId, contactId, newestMessageId, callbackSign }
}

// Finds the conversation of a contact, or opens one. Never opens two.

import type { Contact } from '../../core/helpdesk/contact.ts'
import type { Conversation } from '../../core/helpdesk/conversation.ts'
import type { BoundedMap } from '../../lib/bounded-map.ts'
import type { ChatwootClient } from '../chatwoot-client.ts'
import type { FoundConversation } from '../chatwoot-json.ts'
import { againWhenTaken, createConversation } from './create-conversation.ts'
import { listOfContact, toConversation } from './list-conversations.ts'

export type Wanted = {
  contact: Pick<Contact, 'id' | 'sourceId'>
  mode: 'new' | 'reopen'
  except: readonly number[]
  status: 'open' | 'pending'
  isFirst: boolean
  beforeCreation: () => Promise<void>
}

export async function ensureConversation(
  client: ChatwootClient,
  wanted: Wanted,
  uncertain: BoundedMap<true>,
): Promise<Conversation> {
  // Without a status Chatwoot decides.
  const fields = wanted.status === 'pending' ? { status: wanted.status } : {}
  const create = async () => toConversation(await createConversation(client, { ...wanted, fields }, uncertain))
  let isSearched = !wanted.isFirst
  return againWhenTaken(client, wanted.contact, async () => {
    const found = isSearched ? await find(client, wanted) : undefined
    isSearched = true
    return found ?? create()
  })
}

async function find(client: ChatwootClient, wanted: Wanted): Promise<Conversation | undefined> {
  const { contact, mode } = wanted
  const listed = await listOfContact(client, contact)
  const [ours, byAgents] = [without(wanted, listed.ours), without(wanted, listed.byAgents)]
  const all = [...ours, ...byAgents]
  const open = newest(ours.filter(isOpen)) ?? newest(byAgents.filter(isOpen))
  const other = open ?? newest(all.filter((each) => mode === 'reopen' || each.isBlocked))
  return other && toConversation(other)
}

/** A conversation that holds only the history gets no live message. */
function without({ except }: Wanted, found: readonly FoundConversation[]): FoundConversation[] {
  return found.filter(({ id, isHistory }) => !isHistory && !except.includes(id))
}

function isOpen({ status }: FoundConversation): boolean {
  return status !== 'resolved'
}

function newest(found: readonly FoundConversation[]): FoundConversation | undefined {
  return found.toSorted((a, b) => b.id - a.id).at(0)
}

// Creates a conversation for messages of the history, pending. Its mark is stored at the helpdesk, so a repetition after a lost
// answer finds the conversation, and live messages keep out of it even when our own record of it is lost.

import type { ImportConversation, PendingSpec } from '../../core/helpdesk/conversation.ts'
import type { BoundedMap } from '../../lib/bounded-map.ts'
import type { ChatwootClient } from '../chatwoot-client.ts'
import { againWhenTaken, createConversation } from './create-conversation.ts'
import { importMark } from '../import-mark.ts'
import { listBySourceId, toConversation } from './list-conversations.ts'

export async function createPending(
  client: ChatwootClient,
  { contact, mark, isHistory, beforeCreation }: PendingSpec,
  uncertain: BoundedMap<true>,
): Promise<ImportConversation> {
  const attributes = importMark({ createdFor: isHistory ? 'history' : 'chat', mark })
  const fields = { status: 'pending', additional_attributes: attributes }
  const found = await againWhenTaken(client, contact, async () => {
    const listed = await listBySourceId(client, contact.sourceId)
    const marked = listed.find((each) => each.importMark === mark)
    return marked ?? createConversation(client, { contact, beforeCreation, fields, mark }, uncertain)
  })
  return { ...toConversation(found), isOwn: found.importMark === mark }
}

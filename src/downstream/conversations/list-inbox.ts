// Lists all conversations of our inbox, and the messages of a conversation, for the take-over of what another bridge wrote.

import type { ConversationsPage, ListedConversation } from '../../core/helpdesk/conversation.ts'
import type { ListedMessage, MessagesPage } from '../../core/helpdesk/message.ts'
import type { ChatwootClient } from '../chatwoot-client.ts'
import { readConversation } from '../chatwoot-json.ts'
import { isTooLarge } from '../failures.ts'
import { asList, asObject, asText, isId } from '../json-values.ts'

/** Chatwoot lists so many conversations on a page. */
const conversationsOnPage = 25
/** Chatwoot lists so many messages between two ids. */
const messagesOnPage = 1000
/** Greater than the id of any message: Chatwoot stores the ids in 32 bits. */
const endOfIds = 2_147_483_647

export function listInbox(client: ChatwootClient, page: number): Promise<ConversationsPage> {
  const path = `/conversations?inbox_id=${client.destination.inboxId}&status=all&page=${page}`
  return client.askBeside({ method: 'GET', path, about: 'inbox', read: readPage })
}

/** Chatwoot selects by id, sorts by time, and cuts a list that is too long at its end. */
export async function listMessagesFrom(
  client: ChatwootClient,
  conversationId: number,
  fromId: number,
): Promise<MessagesPage> {
  // With both limits the lower one is inclusive.
  const path = `/conversations/${conversationId}/messages?after=${fromId}&before=${endOfIds}`
  try {
    return await client.askBeside({ method: 'GET', path, about: 'conversation', read: readMessagePage })
  } catch (error) {
    if (isTooLarge(error)) return { messages: [], isWhole: false }
    throw error
  }
}

function readPage(value: unknown): ConversationsPage | undefined {
  const { data, payload } = asObject(value)
  const listed = payload ?? asObject(data)['payload']
  if (!Array.isArray(listed)) return undefined
  // A conversation whose contact is being deleted has none any more. It is left out.
  const conversations = listed.flatMap((each) => readListed(each) ?? [])
  return { conversations, isLast: listed.length < conversationsOnPage }
}

function readListed(value: unknown): ListedConversation | undefined {
  const found = readConversation(value)
  const { meta, messages, last_non_activity_message: lastWords } = asObject(value)
  const {
    id,
    name,
    identifier,
    phone_number: phone,
    custom_attributes: attributes,
  } = asObject(asObject(meta)['sender'])
  if (!found || !isId(id)) return undefined
  const { status, isHistory, isBlocked, sourceId, lastActivityAt } = found
  const newest = asObject(lastWords ?? asList(messages).at(-1))
  const { id: newestId, created_at: newestAt } = newest
  return {
    ...{ id: found.id, status, isHistory, isBlocked, lastActivityAt: lastActivityAt ?? 0 },
    newestMessage:
      isId(newestId) && typeof newestAt === 'number'
        ? { id: newestId, at: newestAt * 1000, sourceId: asText(newest['source_id']) }
        : null,
    contact: {
      ...{ id, name: asText(name) ?? '', identifier: asText(identifier), phone: asText(phone), sourceId },
      attributes: asObject(attributes),
    },
  }
}

function readMessagePage(value: unknown): MessagesPage | undefined {
  const page = asObject(value)['payload']
  if (!Array.isArray(page)) return undefined
  return { messages: page.flatMap(readOne), isWhole: page.length < messagesOnPage }
}

function readOne(value: unknown): ListedMessage[] {
  const { id, content, source_id, message_type: type, private: isPrivate, ...rest } = asObject(value)
  const { created_at: createdAt, content_attributes: attributes } = rest
  const sourceId = asText(source_id)
  const isSaid = (type === 0 || type === 1) && isPrivate !== true && asObject(attributes)['deleted'] !== true
  if (!isId(id) || sourceId === null || typeof createdAt !== 'number' || !isSaid) return []
  return [{ id, sourceId, createdAt: createdAt * 1000, isIncoming: type === 0, content: asText(content) ?? '' }]
}

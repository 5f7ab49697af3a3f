// Lists all conversations of our inbox, and the newest messages of a conversation, for the take-over of what another bridge wrote.

import type { ConversationsPage, ListedConversation } from '../../core/helpdesk/conversation.ts'
import type { ListedMessage } from '../../core/helpdesk/message.ts'
import type { ChatwootClient } from '../chatwoot-client.ts'
import { readConversation } from '../chatwoot-json.ts'
import { asList, asObject, asText, isId } from '../json-values.ts'

/** Chatwoot lists so many conversations on a page. */
const conversationsOnPage = 25
/** Chatwoot lists so many messages between two ids. */
const messagesOnPage = 1000
/** Each step halves the range, so this is enough for any conversation. */
const maxSteps = 60

export function listInbox(client: ChatwootClient, page: number): Promise<ConversationsPage> {
  const path = `/conversations?inbox_id=${client.destination.inboxId}&status=all&page=${page}`
  return client.askBeside({ method: 'GET', path, about: 'inbox', read: readPage })
}

/** As in `listSourceIds`, a list that is too long is cut at its end. Then the upper half of the range is asked for. */
export async function listNewestMessages(
  client: ChatwootClient,
  conversationId: number,
  { newestId, most }: { newestId: number; most: number },
): Promise<ListedMessage[]> {
  let from = 1
  for (let step = 0; step < maxSteps; step++) {
    // With both limits the lower one is inclusive.
    const path = `/conversations/${conversationId}/messages?after=${from}&before=${newestId + 1}`
    const page = await client.askBeside({ method: 'GET', path, about: 'conversation', read: readMessagePage })
    if (page.count < messagesOnPage || from >= newestId) return page.messages.slice(-most)
    from = Math.max(page.medianId, from + 1)
  }
  return []
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
  const at = Number(newest['created_at']) * 1000
  return {
    ...{ id: found.id, status, isHistory, isBlocked, lastActivityAt: lastActivityAt ?? 0 },
    newestMessage: isId(newest['id']) ? { id: newest['id'], at, sourceId: asText(newest['source_id']) } : null,
    contact: {
      ...{ id, name: asText(name) ?? '', identifier: asText(identifier), phone: asText(phone), sourceId },
      attributes: asObject(attributes),
    },
  }
}

/** The messages in the order of their ids, and how many the page has in all. */
function readMessagePage(value: unknown): { messages: ListedMessage[]; count: number; medianId: number } | undefined {
  const page = asObject(value)['payload']
  if (!Array.isArray(page)) return undefined
  const ids = page.flatMap((each) => {
    const { id } = asObject(each)
    return isId(id) ? [id] : []
  })
  const medianId = ids.sort((one, other) => one - other)[ids.length >> 1] ?? 0
  const messages = page.flatMap(readOne).sort((one, other) => one.id - other.id)
  return { messages, count: page.length, medianId }
}

function readOne(value: unknown): ListedMessage[] {
  const { id, content, source_id, message_type: type, private: isPrivate, ...rest } = asObject(value)
  const { created_at: createdAt, content_attributes: attributes } = rest
  const sourceId = asText(source_id)
  const isSaid = (type === 0 || type === 1) && isPrivate !== true && asObject(attributes)['deleted'] !== true
  if (!isId(id) || sourceId === null || typeof createdAt !== 'number' || !isSaid) return []
  return [{ id, sourceId, createdAt: createdAt * 1000, isIncoming: type === 0, content: asText(content) ?? '' }]
}

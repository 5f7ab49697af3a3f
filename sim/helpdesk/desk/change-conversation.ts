// Changes a conversation, with the events and activity messages of the change.

import type { ConversationRow, ConversationStatus, Priority, UserRow } from '../state/rows.ts'
import { addActivity } from './activity.ts'
import type { ChangedAttribute, Desk } from './desk.ts'
import { askForRating } from './templates.ts'

type Changes = {
  status?: ConversationStatus
  snoozedUntil?: number | null
  assignee?: UserRow | null
  customAttributes?: Record<string, unknown>
  labels?: string[]
  priority?: Priority | null
  waitingSince?: number | null
  firstReplyCreatedAt?: number
}

/** The author of the change: a user, the system, the arrival of a message, or a bot that cannot be reached. */
export type ChangedBy = UserRow | 'system' | 'incoming message' | 'failing bot'

const wireNames: Record<keyof Changes, string> = {
  status: 'status',
  snoozedUntil: 'snoozed_until',
  assignee: 'assignee_id',
  customAttributes: 'custom_attributes',
  labels: 'label_list',
  priority: 'priority',
  waitingSince: 'waiting_since',
  firstReplyCreatedAt: 'first_reply_created_at',
}

export function changeConversation(desk: Desk, conversation: ConversationRow, changes: Changes, by: ChangedBy): void {
  const changed = differences(conversation, changes)
  if (changed.length === 0) return
  const before = conversation.status
  const previous = conversation.updatedAt
  Object.assign(conversation, changes)
  conversation.updatedAt = desk.clock.now()
  if (conversation.status !== before) afterStatusChange(desk, conversation, by)
  desk.emit({
    event: 'conversation_updated',
    conversation,
    changed: [
      ...changed.filter(isEarlyColumn),
      { updated_at: { previous_value: iso(previous), current_value: iso(conversation.updatedAt) } },
      ...changed.filter((one) => !isEarlyColumn(one)),
    ],
  })
  if (conversation.status === 'resolved' && conversation.status !== before) askForRating(desk, conversation)
  if (changes.assignee !== undefined && changes.assignee !== null && by !== 'incoming message') {
    addActivity(desk, conversation, `Assigned to ${changes.assignee.name} by ${nameOf(by)}`)
  }
}

/** The changes come in the order of the columns. These two come before updated_at. */
function isEarlyColumn(change: ChangedAttribute): boolean {
  return 'status' in change || 'assignee_id' in change
}

function afterStatusChange(desk: Desk, conversation: ConversationRow, by: ChangedBy): void {
  // Chatwoot clears waiting_since without callbacks, so no event reports it.
  if (conversation.status === 'resolved') conversation.waitingSince = null
  desk.emit({ event: 'conversation_status_changed', conversation })
  addActivity(desk, conversation, statusSentence(conversation.status, by))
}

function statusSentence(status: ConversationStatus, by: ChangedBy): string {
  if (by === 'incoming message') return 'System reopened the conversation due to a new incoming message.'
  if (by === 'failing bot') return 'Conversation was marked open by system due to an error with the agent bot.'
  const verbs: Record<ConversationStatus, string> = {
    open: 'reopened',
    resolved: 'marked resolved',
    pending: 'marked as pending',
    snoozed: 'snoozed',
  }
  return `Conversation was ${verbs[status]} by ${nameOf(by)}`
}

function nameOf(by: ChangedBy): string {
  return typeof by === 'string' ? 'the system' : by.name
}

function differences(conversation: ConversationRow, changes: Changes): ChangedAttribute[] {
  const keys = Object.keys(changes) as (keyof Changes)[]
  return keys.flatMap((key) => {
    const previous = shown(key, conversation[key])
    const current = shown(key, changes[key])
    if (JSON.stringify(previous) === JSON.stringify(current)) return []
    const cached = key === 'labels' ? [cachedLabels(conversation.labels, changes.labels ?? [])] : []
    return [...cached, { [wireNames[key]]: { previous_value: previous, current_value: current } }]
  })
}

/** Chatwoot also keeps the labels as one text. */
function cachedLabels(before: readonly string[], after: readonly string[]): ChangedAttribute {
  const previous = before.length === 0 ? null : before.join(', ')
  return { cached_label_list: { previous_value: previous, current_value: after.join(', ') } }
}

function shown(key: keyof Changes, value: unknown): unknown {
  if (value == null) return null
  if (key === 'assignee') return (value as UserRow).id
  return typeof value === 'number' ? iso(value) : value
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

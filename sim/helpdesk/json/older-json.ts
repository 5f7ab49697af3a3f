// Removes from an answer or a webhook the fields that the simulated version does not have yet.

import type { Features } from '../versions.ts'

type Fields = Record<string, unknown>

export function asOlderJson(features: Features, value: unknown): unknown {
  return features.isNewest ? value : older(features, value)
}

function older(features: Features, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => older(features, item))
  if (typeof value !== 'object' || value === null) return value
  const inside = Object.entries(value).map(([key, field]) => [key, older(features, field)] as const)
  return withoutNewFields(features, Object.fromEntries(inside))
}

/** Each kind of object is known by a field that no other kind has. */
function withoutNewFields(features: Features, fields: Fields): Fields {
  const missing = new Set<string>()
  const isContact = 'identifier' in fields && 'phone_number' in fields
  if (isContact && !features.blockedField) missing.add('blocked')
  if ('assignee_type' in fields && !features.assigneeType) missing.add('assignee_type')
  const isConversationHook = 'contact_inbox' in fields && 'can_reply' in fields
  if (isConversationHook && !features.conversationUpdatedAt) missing.add('updated_at')
  if ('inbox_identifier' in fields && !features.inboxSecret) missing.add('secret')
  const isAttachment = 'data_url' in fields
  if (isAttachment && !features.attachmentTypes) missing.add('content_type')
  const kept = Object.fromEntries(Object.entries(fields).filter(([key]) => !missing.has(key)))
  return isAttachment && !features.attachmentTypes ? { ...kept, extension: null } : kept
}

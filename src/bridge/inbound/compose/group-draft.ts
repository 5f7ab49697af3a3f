// Composes the activity message about changes of a group.

import type { Person } from '../../../core/address.ts'
import type { GroupEvent } from '../../../core/message.ts'
import { mentionName } from '../../people/names.ts'
import { draftOf } from './event-draft.ts'
import type { Composing, EventDraft, Skipped } from './event-draft.ts'
import { renderGroupChanges } from './group-changes.ts'
import { truncate } from './render.ts'

export async function groupDraft(given: Composing, event: GroupEvent): Promise<EventDraft | Skipped> {
  const { context, settings, texts, limits } = given
  // Agents are always told when messages disappear: what they read today may be gone tomorrow.
  const changes = settings.groupEvents ? event.changes : event.changes.filter(({ change }) => change === 'ephemeral')
  if (changes.length === 0) return { skipped: 'skip_disabled' }
  const names = new Map<string, string>()
  for (const change of changes) {
    if (!('people' in change)) continue
    for (const person of change.people) names.set(keyOf(person), mentionName(await context.who(person)))
  }
  const actor = mentionName(context.sender)
  const nameOf = (person: Person) => names.get(keyOf(person)) ?? ''
  const text = renderGroupChanges(changes, actor === '' ? null : actor, nameOf, texts.change)
  // Activity messages are plain text.
  const write: EventDraft['write'] = ({ head = null } = {}) => {
    const whole = head === null ? text : `${head.replaceAll('`', '')}\n${text}`
    return { content: truncate(whole, 'activity', limits, texts) }
  }
  const opens = changes.some(({ change }) => change !== 'ephemeral')
  return { ...draftOf(given, text), type: 'activity', header: null, opens, write }
}

function keyOf({ phone, lid }: Person): string {
  return `${phone}|${lid}`
}

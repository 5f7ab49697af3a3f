// Writes the changes of a group as the lines of an activity message, which the helpdesk shows as HTML.

import type { Person } from '../../../core/address.ts'
import type { GroupChange } from '../../../core/message.ts'
import type { ChangeTexts } from './texts.ts'

const daySeconds = 86_400

/** One line per change, escaped. */
export function renderGroupChanges(
  changes: readonly GroupChange[],
  actor: string | null,
  nameOf: (person: Person) => string,
  texts: ChangeTexts,
): string {
  const who = actor ?? texts.somebody
  return changes.map((change) => escapeHtml(oneLine(renderChange(change, who, nameOf, texts)))).join('\n')
}

function renderChange(
  change: GroupChange,
  who: string,
  nameOf: (person: Person) => string,
  texts: ChangeTexts,
): string {
  switch (change.change) {
    case 'subject':
      return texts.subject(who, change.subject)
    case 'description':
      return texts.description(who)
    case 'picture':
      return texts.picture(who)
    case 'locked':
    case 'announce':
    case 'approval':
      return texts[change.change](who, change.on)
    case 'ephemeral':
      return renderTimer(change, who, texts)
    case 'leave':
    case 'join':
      return texts[change.change](change.people.map(nameOf).join(', '))
    case 'add':
    case 'remove':
    case 'promote':
    case 'demote':
      return texts[change.change](who, change.people.map(nameOf).join(', '))
    case 'created':
      return texts.created(who, change.name)
    case 'invite_link':
      return texts.inviteLink(who)
    case 'other':
      return texts.other(who, change.name)
  }
}

function renderTimer(
  { seconds, isFound }: Extract<GroupChange, { change: 'ephemeral' }>,
  who: string,
  texts: ChangeTexts,
): string {
  const after = seconds === 0 ? null : duration(seconds)
  return isFound ? texts.ephemeralFound(after) : texts.ephemeral(who, after)
}

function duration(seconds: number): string {
  if (seconds % daySeconds === 0) return `${seconds / daySeconds} d`
  if (seconds >= 3600) return `${Math.round(seconds / 3600)} h`
  return seconds >= 60 ? `${Math.round(seconds / 60)} min` : `${seconds} s`
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}

function escapeHtml(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replace(/[&<>"']/g, (char) => names[char] ?? char)
}

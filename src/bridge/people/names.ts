// How people are named in what the helpdesk shows: headers, quotes and mentions.

import type { Person } from '../../core/address.ts'

/** What is known of a person where a message is shown. */
export type KnownPerson = Person & {
  pushName: string | null
  savedName: string | null
  /** With its last digits masked, when the person hides the number. */
  redactedPhone: string | null
}

const noName = { pushName: null, savedName: null, redactedPhone: null }

export function strangerOf({ phone, lid }: Person): KnownPerson {
  return { phone, lid, ...noName }
}

/** +E.164, else the redacted phone, else the digits of the anonymous id. */
export function shownPhone({ phone, redactedPhone, lid }: KnownPerson): string | null {
  return phone === null ? (redactedPhone ?? lid) : `+${phone}`
}

/** The name with a tilde in front unless it is saved. */
export function shownName({ savedName, pushName }: KnownPerson): string | null {
  const saved = cleanName(savedName)
  if (saved !== null) return saved
  const own = cleanName(pushName)
  return own === null ? null : `~${own}`
}

/** What a contact is called at the helpdesk when it is created. */
export function contactName(person: KnownPerson): string {
  const name = cleanName(person.savedName) ?? cleanName(person.pushName) ?? shownPhone(person) ?? ''
  return name.trim()
}

/** Fills `$phone` and `$name`; one that is missing is left out together with the dot next to it. */
export function fillHeader(template: string, person: KnownPerson): string {
  const values = { phone: shownPhone(person), name: shownName(person) }
  if (values.phone === null && values.name === null) return ''
  let filled = template
  for (const key of ['phone', 'name'] as const) if (values[key] === null) filled = leaveOut(filled, key)
  return filled.replace(/\$(phone|name)/g, (_, key: 'phone' | 'name') => values[key] ?? '')
}

/** Push name, saved name, phone, redacted phone, anonymous id. */
export function mentionName(person: KnownPerson): string {
  return cleanName(person.pushName) ?? cleanName(person.savedName) ?? shownPhone(person) ?? ''
}

function leaveOut(template: string, variable: string): string {
  return template.replace(new RegExp(`\\s*·\\s*\\$${variable}|\\$${variable}\\s*·\\s*|\\$${variable}`, 'g'), '')
}

/** Backticks and line breaks would end the code span that a name stands in: each becomes a space. */
function cleanName(name: string | null): string | null {
  const clean = (name ?? '').replace(/[`\p{Cc}\u2028\u2029]/gu, ' ')
  return clean.trim() === '' ? null : clean
}

// Says how a person is called in the headers, quotes and mentions that the helpdesk shows.

import type { Person } from '../../core/address.ts'
import { beginningOf } from '../../lib/text/beginning-of.ts'

/** A group tells names of any length. A longer one would leave no room for the words of the message. */
const longestName = 255

/** What a message can show of a person. */
export type KnownPerson = Person & {
  pushName: string | null
  savedName: string | null
  /** The phone number with its last digits masked, of a person who hides it. */
  redactedPhone: string | null
}

const noName = { pushName: null, savedName: null, redactedPhone: null }

export function strangerOf({ phone, lid }: Person): KnownPerson {
  return { phone, lid, ...noName }
}

/** +E.164, else the masked phone number, else the digits of the anonymous id. */
function shownPhone({ phone, redactedPhone, lid }: KnownPerson): string | null {
  const shown = phone === null ? (redactedPhone ?? lid) : `+${phone}`
  return shown === null ? null : beginningOf(shown, longestName)
}

/** The two names that a person can have. */
export type PersonalNames = Pick<KnownPerson, 'pushName' | 'savedName'>

/** The name of the person in the address book of the account. */
export function savedNameOf({ savedName }: Pick<PersonalNames, 'savedName'>): string | null {
  return cleanName(savedName)?.trim() ?? null
}

/** The name that the person chose. */
export function pushNameOf({ pushName }: Pick<PersonalNames, 'pushName'>): string | null {
  return cleanName(pushName)?.trim() ?? null
}

/** A saved name as it is; the name that the person chose with a tilde in front. */
export function shownName({ savedName, pushName }: PersonalNames): string | null {
  const saved = cleanName(savedName)
  if (saved !== null) return saved
  const own = cleanName(pushName)
  return own === null ? null : `~${own}`
}

/** The name that a new contact gets at the helpdesk. */
export function contactName(person: KnownPerson): string {
  return savedNameOf(person) ?? pushNameOf(person) ?? shownPhone(person)?.trim() ?? ''
}

/**
 * Fills in `$phone` and `$name`. A missing value is left out together with the dot next to it. `escape` is for values that the
 * template does not put into code.
 */
export function fillHeader(template: string, person: KnownPerson, escape = (value: string) => value): string {
  const values = { phone: shownPhone(person), name: shownName(person) }
  if (values.phone === null && values.name === null) return ''
  let filled = template
  for (const key of ['phone', 'name'] as const) if (values[key] === null) filled = leaveOut(filled, key)
  return filled.replace(/\$(phone|name)/g, (_, key: 'phone' | 'name', at: number) => {
    const isInCode = filled.slice(0, at).split('`').length % 2 === 0
    return isInCode ? (values[key] ?? '') : escape(values[key] ?? '')
  })
}

/** The first that is known: push name, saved name, phone number, masked phone number, anonymous id. */
export function mentionName(person: KnownPerson): string {
  return cleanName(person.pushName) ?? cleanName(person.savedName) ?? shownPhone(person) ?? ''
}

function leaveOut(template: string, variable: string): string {
  return template.replace(new RegExp(`\\s*·\\s*\\$${variable}|\\$${variable}\\s*·\\s*|\\$${variable}`, 'g'), '')
}

/** Backticks and line breaks would end the code span around a name, so each becomes a space. */
function cleanName(name: string | null): string | null {
  const clean = beginningOf(name ?? '', longestName).replace(/[`\p{Cc}\u2028\u2029]/gu, ' ')
  return clean.trim() === '' ? null : clean
}

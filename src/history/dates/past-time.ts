// Writes times in the language and in the time zone of the agents, such as "15 Nov 2026, 14:49".

import type { Locale } from '../../core/reasons/sentences.ts'

/** The day comes first, and the month has a name: 3/4 would be two days. */
const languages: Record<Locale, string> = { en: 'en-GB', es: 'es', pt: 'pt-BR' }

const fields: Intl.DateTimeFormatOptions = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
}

/**
 * Returns the function that writes a time. Making that function takes much longer than calling it.
 *
 * A time zone that is unknown is UTC. Chatwoot has UTC until an administrator sets the time zone of the inbox, so it may be
 * another one than that of the agents. The text names it therefore.
 */
export function pastTimeFormat(timeZone: string | null, locale: Locale): (at: number) => string {
  const zone = timeZone !== null && isTimeZone(timeZone) ? timeZone : 'UTC'
  const name = isUtc(zone) ? ({ timeZoneName: 'short' } as const) : {}
  const format = new Intl.DateTimeFormat(languages[locale], { ...fields, ...name, timeZone: zone })
  return (at) => format.format(at)
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== ''
  } catch {
    return false
  }
}

function isUtc(zone: string): boolean {
  return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone === 'UTC'
}

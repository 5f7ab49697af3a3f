// The kinds of value that a setting can take: how its text is parsed, what it accepts, and how it may be shown.

import { isIP } from 'node:net'
import type { ValueSchema } from '../core/chosen-settings.ts'
import { maskNumbers } from '../lib/text/mask-numbers.ts'

export type Kind<T> = {
  /** What a valid value looks like, completing the sentence "takes …". */
  takes: string
  /** Returns the value, or undefined when the text is not one. */
  parse(text: string): T | undefined
  /** What may be printed of a value; the text itself unless stated. */
  show?(text: string): string
  /** Of a secret only is shown whether it is set. */
  secret?: true
  /** Spaces at the ends belong to the value. */
  verbatim?: true
  /** How the API takes a value; as a text unless stated. */
  json?: { schema: ValueSchema; takes?: string }
}

const shownLength = 100

export const text: Kind<string> = { takes: 'any text', parse: (value) => value }

export function textUpTo(longest: number): Kind<string> {
  return {
    takes: `a text of at most ${longest} characters`,
    parse: (value) => (value.length <= longest ? value : undefined),
    // A text that is too long would fill the screen. A text for customers may name a phone.
    show: (value) => maskNumbers(value.length <= shownLength ? value : `${value.slice(0, shownLength)}…`),
  }
}

export const secretText: Kind<string> = { ...text, secret: true, show: (value) => (value === '' ? '' : '[set]') }

/** A secret that travels in an HTTP header: other characters would arrive changed or not at all. */
export const secretHeaderText: Kind<string> = {
  ...secretText,
  takes: 'printable ASCII characters',
  parse: (value) => (/^[\x20-\x7e]*$/.test(value) ? value : undefined),
}

export function oneOf<const T extends string>(...values: readonly T[]): Kind<T> {
  const named = values.filter((value) => value !== '').join(' or ')
  return {
    takes: values.some((value) => value === '') ? `${named}, or nothing` : named,
    parse: (value) => values.find((each) => each === value),
    json: { schema: { type: 'string', enum: values } },
  }
}

export const bool: Kind<boolean> = {
  takes: 'true, false, 1 or 0',
  parse: (value) => ({ true: true, '1': true, false: false, '0': false })[value.toLowerCase()],
  json: { schema: { type: 'boolean' }, takes: 'true or false' },
}

export function integer(min: number, max: number): Kind<number> {
  return {
    takes: `a whole number from ${min} to ${max}`,
    parse: (value) => within(/^-?\d{1,15}$/.test(value) ? Number(value) : NaN, min, max),
  }
}

export function decimal(min: number, max: number): Kind<number> {
  return {
    takes: `a number from ${min} to ${max}`,
    parse: (value) => within(/^\d{1,9}(\.\d{1,6})?$/.test(value) ? Number(value) : NaN, min, max),
  }
}

const durationUnits: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const sizeUnits: Record<string, number> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

/** Milliseconds. */
export function duration(min: string, max: string): Kind<number> {
  return measured(durationUnits, 'a duration such as 250ms, 5s, 12h', min, max)
}

/** Bytes. */
export function size(min: string, max: string): Kind<number> {
  return measured(sizeUnits, 'a size such as 512kb or 64mb', min, max)
}

/** An http(s) URL without a trailing slash, or null for none. A path is appended to it, so it ends with its own path. */
export const httpUrl: Kind<string | null> = {
  takes: 'an http:// or https:// URL without ? and #, or nothing',
  parse: (value) => (value === '' ? null : /[?#]/.test(value) ? undefined : parseUrl(value, ['http:', 'https:'])),
  show: hideCredentials,
}

/** A URL of one of these schemes, or null for none. */
export function url(...schemes: readonly string[]): Kind<string | null> {
  return {
    takes: `a ${schemes.join(', ')} URL, or nothing`,
    parse: (value) => (value === '' ? null : parseUrl(value, schemes)),
    show: hideCredentials,
  }
}

// More than any list needs, and few enough to compare every message with.
const [maxItems, maxItemLength] = [1000, 256]

/** Items between commas, each accepted by the test. */
export function list(takes: string, accepts: (item: string) => boolean = () => true): Kind<readonly string[]> {
  const isItem = (item: string) => item !== '' && item.length <= maxItemLength && accepts(item)
  return {
    takes: `${takes}, separated by commas`,
    parse(value) {
      const items = value.split(',').map((item) => item.trim())
      if (value === '') return []
      return items.length <= maxItems && items.every(isItem) ? items : undefined
    },
    json: {
      schema: { type: 'array', items: { type: 'string', maxLength: maxItemLength }, maxItems },
      takes: `an array of ${takes}`,
    },
  }
}

export function isHostOrCidr(item: string): boolean {
  const [address = '', prefix, ...rest] = item.split('/')
  if (rest.length > 0) return false
  if (prefix === undefined) return isIP(address) !== 0 || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(address)
  const bits = { 4: 32, 6: 128 }[isIP(address)]
  return bits !== undefined && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits
}

/** An origin as browsers send it: no path, no trailing slash, no default port. */
export function isOrigin(item: string): boolean {
  const url = URL.parse(item)
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === item
}

/** Scheme, host and path of a URL. Nothing of another text: a password could be anywhere in it. */
export function hideCredentials(value: string): string {
  if (value === '') return ''
  const parsed = URL.parse(value)
  // An @ after the host comes from a password with a slash, a question mark or a hash in it.
  if (!parsed || parsed.host === '' || /@/.test(parsed.pathname + parsed.search + parsed.hash)) return '[not shown]'
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`
}

function within(value: number, min: number, max: number): number | undefined {
  return value >= min && value <= max ? value : undefined
}

function measured(units: Record<string, number>, takes: string, min: string, max: string): Kind<number> {
  const parse = (value: string): number => {
    if (value === '0') return 0
    const match = /^(\d{1,9})([a-z]{1,2})$/.exec(value.toLowerCase())
    return match ? Number(match[1]) * (units[match[2] ?? ''] ?? NaN) : NaN
  }
  return { takes: `${takes}, from ${min} to ${max}`, parse: (value) => within(parse(value), parse(min), parse(max)) }
}

function parseUrl(value: string, schemes: readonly string[]): string | undefined {
  const parsed = URL.parse(value)
  return parsed && schemes.includes(parsed.protocol) && parsed.hostname !== '' ? value.replace(/\/+$/, '') : undefined
}

// Setting kinds with a format of their own: keys, languages, templates, separators, the database URL.

import { isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import { maskNumbers } from '../lib/text/mask-numbers.ts'
import { hideCredentials, isHostOrCidr, isOrigin, list, secretText } from './setting-kinds.ts'
import type { Kind } from './setting-kinds.ts'
import type { DatabaseLocation } from '../core/database-location.ts'
import type { Locale } from '../core/reasons/sentences.ts'

export const databaseUrl: Kind<DatabaseLocation> = {
  takes: 'file:<path of a database file> or postgres://…',
  parse(value) {
    if (/^postgres(ql)?:\/\/./.test(value)) return URL.canParse(value) ? { engine: 'postgres', url: value } : undefined
    // A colon inside belongs to a Windows drive; a colon in front is a name like :memory:.
    const path = /^file:(?:\/\/(?=\/))?([^:?#][^?#]*)$/.exec(value)?.[1]
    return path === undefined ? undefined : { engine: 'sqlite', path: resolve(path) }
  },
  show: (value) => (/^file:[^@?]*$/.test(value) ? value : hideCredentials(value)),
}

/** An empty value and `*` both allow any origin. */
export const origins: Kind<readonly string[]> = {
  takes: 'origins such as https://desk.example, separated by commas, or * for any',
  parse(value) {
    const items = value.split(',').map((item) => item.trim())
    if (value === '' || value === '*') return []
    return items.every(isOrigin) ? items : undefined
  },
}

/** Chats of customers: their numbers are shown nowhere. */
export const jidPatterns: Kind<readonly string[]> = { ...list('jids, * matches anything'), show: maskNumbers }

export const encryptionKeys: Kind<readonly Uint8Array[]> = {
  ...secretText,
  takes: 'keys of 32 bytes in base64 or base64url, separated by commas, or nothing',
  parse(value) {
    if (value === '') return []
    const keys = value.split(',').map((key) => decodeBase64(key.trim()))
    return keys.every((key) => key?.length === 32) ? (keys as Uint8Array[]) : undefined
  },
}

/** Names and values of HTTP headers; values may be percent-encoded. */
export const headerList: Kind<Readonly<Record<string, string>>> = {
  ...secretText,
  takes: 'headers such as name=value, separated by commas, or nothing',
  parse(value) {
    if (value === '') return {}
    const pairs = value.split(',').map(parseHeader)
    return pairs.every((pair) => pair !== undefined) ? Object.fromEntries(pairs) : undefined
  },
}

function parseHeader(item: string): [string, string] | undefined {
  const equals = item.indexOf('=')
  const name = item.slice(0, Math.max(equals, 0)).trim()
  const value = decode(item.slice(equals + 1).trim())
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value ?? '\n') ? [name, value ?? ''] : undefined
}

/** Undefined when the text is not percent-encoded correctly. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** A port that the system chooses would be unknown to other nodes. */
export const nodeAddress: Kind<{ host: string; port: number } | null> = {
  takes: 'host:port such as 10.0.0.5:8091 or [fd00::5]:8091, or nothing',
  parse(value) {
    if (value === '') return null
    const [, bracketed, plain = '', digits = ''] = /^(?:\[([^\]]{1,45})\]|([^:/]{1,253})):(\d{1,5})$/.exec(value) ?? []
    const isHost = bracketed === undefined ? isHostOrCidr(plain) : isIPv6(bracketed)
    const port = Number(digits)
    return isHost && port >= 1 && port <= 65_535 ? { host: bracketed ?? plain, port } : undefined
  },
}

/** Without a path: the path of a request is signed, so no proxy may change it. Without a password: others can read it. */
export const nodeUrl: Kind<string | null> = {
  takes: 'an http:// or https:// URL of a host and a port alone, or nothing',
  parse(value) {
    if (value === '') return null
    const parsed = URL.parse(value)
    const isPlain = parsed !== null && parsed.href === `${parsed.origin}/` && /^https?:$/.test(parsed.protocol)
    return isPlain ? parsed.origin : undefined
  },
  show: hideCredentials,
}

const shortestNodeSecret = 32

export const nodeSecret: Kind<string> = {
  ...secretText,
  takes: `a text of at least ${shortestNodeSecret} bytes, or nothing`,
  parse: (value) => (value === '' || Buffer.byteLength(value) >= shortestNodeSecret ? value : undefined),
}

export const hexKey: Kind<string | null> = {
  takes: '64 hexadecimal digits, or nothing',
  parse: (value) => (value === '' ? null : /^[0-9a-f]{64}$/i.test(value) ? value.toLowerCase() : undefined),
}

/** The signing key, or null for none: after `whsec_` comes base64, any other text is used as it is. */
export const signingSecret: Kind<Uint8Array | null> = {
  ...secretText,
  takes: 'whsec_ followed by base64, or any other text, or nothing',
  parse(value) {
    if (value === '') return null
    return value.startsWith('whsec_') ? decodeBase64(value.slice('whsec_'.length)) : Buffer.from(value)
  },
}

const locales: readonly Locale[] = ['en', 'es', 'pt']

/** The language part decides, so the usual names of regions fit: pt-BR, es_MX, en_US.UTF-8. */
export const locale: Kind<Locale> = {
  takes: 'en, es or pt, also with a region such as pt-BR',
  parse(value) {
    const language = /^([a-z]{2,3})(?:[-_][a-z0-9]{2,8}){0,3}(?:\.[a-z0-9-]{1,20})?$/i.exec(value)?.[1]?.toLowerCase()
    return locales.find((each) => each === language)
  },
}

const longestTemplate = 500

/** Text in which $variables are replaced; only these names exist. */
export function template(...variables: readonly string[]): Kind<string> {
  const names = variables.map((name) => `$${name}`)
  return {
    takes: `text with ${names.join(' and ')}, of at most ${longestTemplate} characters`,
    parse: (value) => {
      const used = value.match(/\$[a-z_]+/gi) ?? []
      return value.length <= longestTemplate && used.every((name) => names.includes(name)) ? value : undefined
    },
    json: { schema: { type: 'string', maxLength: longestTemplate } },
  }
}

// `br` is Markdown's hard break: the helpdesk renders no HTML.
const namedSeparators: Record<string, string> = { paragraph: '\n\n', p: '\n\n', nl: '\n', br: '  \n' }

export const separator: Kind<string> = {
  takes: 'paragraph, nl, br or any literal text',
  parse: (value) => namedSeparators[value.trim()] ?? value,
  verbatim: true,
}

function decodeBase64(value: string): Uint8Array | undefined {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(value) ? Buffer.from(value, 'base64url') : undefined
}

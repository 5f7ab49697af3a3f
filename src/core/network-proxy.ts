// The proxy of an instance: which URLs are accepted, and which part of them may be shown.

/** The accepted URLs, in words for people. */
export const networkProxyRule =
  'a proxy URL: http://, https:// or socks5://, a host, and no path; user and password are optional and percent-encoded'

export const longestProxyUrl = 2048
/** SOCKS5 has one byte for the length of a name, and one for the length of a password. */
const longestSocksCredential = 255

const start = /^(?:https?|socks5):\/\/(?![/\\])/i
/** The URL parser drops some of these silently. */
const unprintable = /[^\x21-\x7e]/

/** The URL in one spelling; undefined when it is not a proxy URL. */
export function parseNetworkProxy(text: string): string | undefined {
  if (text.length > longestProxyUrl || !start.test(text) || unprintable.test(text)) return undefined
  const url = URL.parse(text)
  if (!url || url.hostname === '' || url.port === '0' || hasMore(url) || !hasUsableCredentials(url)) return undefined
  return `${url.protocol}//${credentialsOf(url)}${url.host}`
}

/** Scheme, host and port, without user and password. */
export function shownProxy(proxy: string): string {
  const { protocol, host } = new URL(proxy)
  return `${protocol}//${host}`
}

/** Host and port, for reasons. */
export function proxyHost(proxy: string): string {
  return new URL(proxy).host
}

/** A password with a slash, a question mark or a number sign that is not percent-encoded ends up there. */
function hasMore({ pathname, search, hash }: URL): boolean {
  return (pathname !== '' && pathname !== '/') || search !== '' || hash !== ''
}

function hasUsableCredentials({ protocol, username, password }: URL): boolean {
  const decoded = [decode(username), decode(password)]
  if (decoded.includes(undefined)) return false
  if (protocol !== 'socks5:') return true
  return decoded.every((text = '') => Buffer.byteLength(text) <= longestSocksCredential)
}

/** Undefined when a percent sign is not followed by the code of a character. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function credentialsOf({ username, password }: URL): string {
  if (username === '' && password === '') return ''
  return `${username}${password === '' ? '' : `:${password}`}@`
}

// Checks which URLs lifecycle events may be sent to. The check is made when they are set, without DNS.

import { BlockList, isIP } from 'node:net'

const reachable = new BlockList()
for (const [address, prefix] of [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  reachable.addSubnet(address, prefix, 'ipv4')
}
reachable.addAddress('::1', 'ipv6')
reachable.addSubnet('fc00::', 7, 'ipv6')

// Cloud metadata has link-local addresses; no subscriber has one.
const forbidden = new BlockList()
forbidden.addSubnet('169.254.0.0', 16, 'ipv4')
forbidden.addSubnet('fe80::', 10, 'ipv6')
forbidden.addAddress('fd00:ec2::254', 'ipv6')

/** Any http(s) URL that does not point at a link-local address. */
export function isEventUrl(text: string): boolean {
  const url = parse(text)
  return url !== null && !isIn(forbidden, url)
}

/** https, or http when the name alone shows that the target is on a private network. */
export function isSubscriberUrl(text: string): boolean {
  const url = parse(text)
  if (!url || isIn(forbidden, url)) return false
  if (url.protocol === 'https:') return true
  const { hostname } = url
  return isIn(reachable, url) || !/[.:[]/.test(hostname) || /\.(local|internal)$/.test(hostname)
}

function parse(text: string): URL | null {
  const url = URL.parse(text)
  return url && /^https?:$/.test(url.protocol) && !/[\s\p{C}]/u.test(text) ? url : null
}

function isIn(list: BlockList, { hostname }: URL): boolean {
  const address = hostname.replace(/^\[|\]$/g, '')
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

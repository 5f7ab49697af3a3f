// Finds the kind of network of an IP address: public, private, or one that nothing may be sent to.

import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** `never`: link-local, cloud metadata, multicast, reserved. `private` includes loopback and the unspecified address. */
export type AddressKind = 'public' | 'private' | 'never'

type Ranges = Record<'ipv4' | 'ipv6', readonly string[]>

// Some metadata services have addresses that look private (fd00:ec2::254) or even public (168.63.129.16).
const never = blockList({
  ipv4: ['169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  ipv6: ['fe80::/10', 'ff00::/8', 'fd00:ec2::/32', 'fd20:ce::/32', '2001::/32'],
})

const notPublic = blockList({
  ipv4: [
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
    ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ],
  ipv6: ['2001::/23', '2001:db8::/32', '3fff::/20'],
})

/** The range of public addresses; an address outside of it is not public. */
const globalUnicast = blockList({ ipv4: [], ipv6: ['2000::/3'] })

/** Prefixes, in groups, that an IPv4 address follows; a translator sends a packet to that IPv4 address. */
const carriers = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], leadsThere: true },
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], leadsThere: true },
  { prefix: [0x2002], leadsThere: true },
  { prefix: [0, 0, 0, 0, 0, 0], leadsThere: false },
  { prefix: [0, 0, 0, 0, 0xffff, 0], leadsThere: false },
  { prefix: [0x64, 0xff9b, 1, 0, 0, 0], leadsThere: false },
]

export function kindOfAddress(text: string): AddressKind {
  const [address = ''] = text.split('%', 1)
  if (isIPv4(address)) return kindOfIpv4(address)
  if (!isIPv6(address)) return 'never'
  const groups = groupsOf(address)
  for (const { prefix, leadsThere } of carriers) {
    if (!prefix.every((group, index) => groups[index] === group)) continue
    const carried = kindOfIpv4(ipv4At(groups, prefix.length))
    return carried === 'public' && !leadsThere ? 'private' : carried
  }
  if (never.check(address, 'ipv6')) return 'never'
  return globalUnicast.check(address, 'ipv6') && !notPublic.check(address, 'ipv6') ? 'public' : 'private'
}

/** The addresses that one client can have: an IPv4 address, or 64 bits of an IPv6 address. Another text stands for itself. */
export function networkOfClient(text: string): string {
  const [address = ''] = text.split('%', 1)
  if (!isIPv6(address)) return text
  const groups = groupsOf(address)
  const isMapped = groups.slice(0, 6).join() === '0,0,0,0,0,65535'
  return isMapped ? ipv4At(groups, 6) : groups.slice(0, 4).join(':')
}

function kindOfIpv4(address: string): AddressKind {
  if (never.check(address, 'ipv4')) return 'never'
  return notPublic.check(address, 'ipv4') ? 'private' : 'public'
}

/** The eight groups of an IPv6 address in any notation. */
function groupsOf(address: string): number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = canonical.split('::')
  const front = toGroups(head)
  const back = toGroups(tail ?? '')
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back]
}

function toGroups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => parseInt(group, 16))
}

function ipv4At(groups: readonly number[], index: number): string {
  const [high = 0, low = 0] = groups.slice(index)
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function blockList(ranges: Ranges): BlockList {
  const list = new BlockList()
  for (const family of ['ipv4', 'ipv6'] as const) {
    for (const range of ranges[family]) addRange(list, range, family)
  }
  return list
}

export function addRange(list: BlockList, range: string, family: 'ipv4' | 'ipv6'): void {
  const [address = '', bits] = range.split('/')
  list.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family)
}

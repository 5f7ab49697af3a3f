// Decides which hosts a client may contact, by the addresses of a host.

import { BlockList, isIP } from 'node:net'
import { addRange, kindOfAddress } from './address.ts'
import { EgressRefused } from './errors.ts'

export type EgressPolicy = {
  /** `public`: addresses of the internet only. `private`: private networks and loopback too. */
  reach: 'public' | 'private'
  /** Hosts and CIDR ranges that may be private nevertheless. Link-local and metadata addresses stay forbidden. */
  allow: readonly string[]
}

/** For addresses that come from outside, such as those of attachments; `allow` comes from SERVICE_EGRESS_ALLOW. */
export function publicOnly(allow: readonly string[] = []): EgressPolicy {
  return { reach: 'public', allow }
}

/** For addresses that the operator sets, such as those of lifecycle subscribers. */
export const privateAllowed: EgressPolicy = { reach: 'private', allow: [] }

/** Returns why a host with these addresses may not be contacted: one forbidden address is enough. */
export type Judge = (host: string, addresses: readonly string[]) => EgressRefused | undefined

export function createJudge({ reach, allow }: EgressPolicy): Judge {
  const hosts = new Set(allow.map(plainHost))
  const ranges = new BlockList()
  for (const item of allow) {
    const family = isIP(item.split('/')[0] ?? '')
    if (family !== 0) addRange(ranges, item, family === 4 ? 'ipv4' : 'ipv6')
  }
  return (host, addresses) => {
    const isNamed = hosts.has(plainHost(host))
    for (const address of addresses) {
      const kind = kindOfAddress(address)
      if (kind === 'never') return new EgressRefused(host, address, 'never')
      if (kind === 'public' || reach === 'private' || isNamed) continue
      const isInRange = ranges.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
      if (!isInRange) return new EgressRefused(host, address, 'private')
    }
    return undefined
  }
}

function plainHost(host: string): string {
  return host.toLowerCase().replace(/^\[|\]$|\.$/g, '')
}

// The hash of a list of devices (`phash`), by which the server and a client compare their lists.
import { createHash } from 'node:crypto'
import { LID_SERVER, PHONE_SERVER } from '../wire/jid.ts'
import type { Addressing, Device } from './user.ts'

export function participantHash(devices: Iterable<Device>, addressing: Addressing): string {
  const server = addressing === 'lid' ? LID_SERVER : PHONE_SERVER
  // The second number is the agent, which is 0 for people.
  const names = [...devices].map(({ user, id }) => `${addressing === 'lid' ? user.lid : user.phone}.0:${id}@${server}`)
  const digest = createHash('sha256').update(names.toSorted().join('')).digest()
  return `2:${digest.subarray(0, 6).toString('base64')}`
}

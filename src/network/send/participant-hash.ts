// The hash of a list of devices. The server answers with its own hash when its list differs.

import { createHash } from 'node:crypto'
import type { Jid } from '../../core/ids.ts'
import { jidDecode } from '../library/library.ts'

export function participantHash(jids: Iterable<Jid>): string {
  const names = new Set([...jids].map(fullName))
  const digest = createHash('sha256')
    .update([...names].toSorted().join(''))
    .digest()
  return `2:${digest.subarray(0, 6).toString('base64')}`
}

/** With the agent, which is 0 for people, and with the device, even if it is 0. */
function fullName(jid: Jid): string {
  const { user = '', device = 0, server = '' } = jidDecode(jid) ?? {}
  return `${user}.0:${device}@${server}`
}

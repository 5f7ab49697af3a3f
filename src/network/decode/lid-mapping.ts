// Unpacks the list of LIDs that a phone sends when its account moves to LIDs. The library expects the list unpacked.

import { gunzipSync } from 'node:zlib'
import type { proto } from '../library/library.ts'

/** Far more than the contacts of one phone need. */
const maxOutputLength = 64 * 1024 * 1024

export function unpackMapping(sync: proto.ILIDMigrationMappingSyncMessage): void {
  const { encodedMappingPayload: payload } = sync
  const isPacked = payload?.[0] === 0x1f && payload[1] === 0x8b
  if (isPacked) sync.encodedMappingPayload = gunzipSync(payload, { maxOutputLength })
}

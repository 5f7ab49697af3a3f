// What a phone says about the move of its account to LIDs: in a pairing, and later in a message to its companions.
import { gzipSync } from 'node:zlib'
import { proto } from '../library.ts'
import type { User } from '../server/user.ts'
import { stanza, type Stanza } from '../wire/stanza.ts'

/** A part of `pair-success`. A phone whose migration is not simulated says nothing. */
export function clientProps({ isMigrated }: User): Stanza[] {
  if (isMigrated === undefined) return []
  const props = proto.ClientPairingProps.encode({ isChatDbLidMigrated: isMigrated }).finish()
  return [stanza('client-props', {}, props)]
}

/** The phone has moved: the LIDs of these people, compressed as real phones do it. */
export function mappingSync(people: readonly User[], now: number): proto.IMessage {
  const pnToLidMappings = people.map(({ phone, lid }) => ({ pn: Number(phone), assignedLid: Number(lid) }))
  const chatDbMigrationTimestamp = Math.trunc(now / 1000)
  const payload = proto.LIDMigrationMappingSyncPayload.encode({ pnToLidMappings, chatDbMigrationTimestamp }).finish()
  return {
    protocolMessage: {
      type: proto.Message.ProtocolMessage.Type.LID_MIGRATION_MAPPING_SYNC,
      lidMigrationMappingSyncMessage: { encodedMappingPayload: gzipSync(payload) },
    },
  }
}

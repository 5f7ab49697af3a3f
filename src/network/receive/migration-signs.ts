// Notes the signs that the account has moved to LIDs: what a pairing says, and messages that name a LID and a phone number.

import { lidDomain } from '../../core/address.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { Addressing } from '../account/addressing.ts'
import { jidDecode, proto } from '../library/library.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { childOf } from '../library/nodes.ts'

/** If a sign is not stored, the next one is. So a failure has no effect. */
export function noteMigrationSigns({ ws }: WASocket, addressing: Addressing): void {
  ws.on('CB:iq,,pair-success', (stanza: BinaryNode) => {
    const hasMoved = pairedAs(stanza)
    if (hasMoved !== undefined) addressing.told(hasMoved).catch(ignoreRejection)
  })
  ws.on('CB:message', ({ attrs }: BinaryNode) => {
    if (isSign(attrs)) addressing.usedLid().catch(ignoreRejection)
  })
}

function pairedAs(stanza: BinaryNode): boolean | undefined {
  const success = childOf(stanza, 'pair-success')
  const content = success && childOf(success, 'client-props')?.content
  if (!(content instanceof Uint8Array)) return undefined
  try {
    return proto.ClientPairingProps.decode(content).isChatDbLidMigrated ?? undefined
  } catch {
    // The pairing does not depend on it.
    return undefined
  }
}

/** A chat with a hidden number uses LIDs in every account. Such a message names no phone number. */
function isSign({ from, category, sender_pn: sender, peer_recipient_pn: recipient }: BinaryNode['attrs']): boolean {
  const namesPhone = sender !== undefined || recipient !== undefined
  return namesPhone && category !== 'peer' && jidDecode(from)?.server === lidDomain
}

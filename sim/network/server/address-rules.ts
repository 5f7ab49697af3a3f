// Decides whether the server takes the address of a message between two people, for accounts whose migration is simulated.
import { isLidJid } from '../wire/jid.ts'
import { child, children, type Stanza } from '../wire/stanza.ts'
import type { Addressing, User } from './user.ts'

const BAD_ADDRESS = 400
const STRANGER = 463

/** Returns the code of the refusal, or undefined when the server takes the address. */
export function addressRefusal(sender: User, recipient: User, node: Stanza): number | undefined {
  const { isMigrated } = sender
  if (isMigrated === undefined || sender === recipient) return undefined
  const isLid = isLidJid(node.attrs.to ?? '')
  const devices = children(child(node, 'participants'), 'to')
  if (devices.some(({ attrs }) => isLidJid(attrs.jid ?? '') !== isLid)) return BAD_ADDRESS
  // A person who hides the number can only be reached by LID, by every account.
  if (!isMigrated && isLid && !recipient.hidesPhone) return BAD_ADDRESS
  return isMigrated && !isLid && !sender.correspondents.has(recipient) ? STRANGER : undefined
}

/** How two people address each other when one of them is an account whose migration is simulated. */
export function usualAddressing(one: User, other: User): Addressing | undefined {
  const isMigrated = one.isMigrated ?? other.isMigrated
  if (isMigrated === undefined) return undefined
  return isMigrated ? 'lid' : 'pn'
}

// The parts of the simulated network that its people and phones use.
import type { SimClock } from '../../shiftable-clock.ts'
import type { MediaHost } from '../media/media-host.ts'
import type { CompanionDevice } from '../server/companion-device.ts'
import type { Directory } from '../server/directory.ts'
import type { GroupMembership, MessageSwitch } from '../server/message-switch.ts'
import type { ReceiptSwitch } from '../server/receipt-switch.ts'
import type { TokenDesk } from '../server/token-desk.ts'
import type { Addressing, Device } from '../server/user.ts'

export type NetworkParts = {
  clock: SimClock
  directory: Directory
  findGroup: (jid: string) => GroupMembership | undefined
  messages: MessageSwitch
  receipts: ReceiptSwitch
  media: MediaHost
  tokens: TokenDesk
  addressing: Addressing
  /** Every linked client of the network. */
  companions: () => Iterable<CompanionDevice>
  /** Tells the clients that know the devices of this user. */
  onDeviceChange: (device: Device, change: 'add' | 'remove') => void
  /** Reports a stanza of a client that the simulator does not understand. */
  complain: (problem: string) => void
  /** Reports a stanza of a client that breaks a rule of the network. */
  violate: (rule: string) => void
}

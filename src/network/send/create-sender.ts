// Builds the parts that send messages over one connection.

import type { Agent } from 'node:https'
import type { NetworkMessageId } from '../../core/ids.ts'
import type { OutgoingContent } from '../../core/network/outgoing-content.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Account } from '../account/account.ts'
import type { SenderKeyHolders } from '../account/sender-key-holders.ts'
import { MediaHosts } from '../files/media-hosts.ts'
import { MediaUpload } from '../files/upload.ts'
import type { WASocket } from '../library/library.ts'
import type { Ask } from '../queries/user-sync.ts'
import { Acknowledgements } from './acknowledgements.ts'
import { Addresses } from './addresses.ts'
import { DeviceDirectory } from './device-directory.ts'
import { GroupRosters } from './group-rosters.ts'
import { MessageEncoder } from './message-encoder.ts'
import { MessageSealer } from './message-sealer.ts'
import { MessageSender } from './message-sender.ts'
import { MissedDevices } from './missed-devices.ts'
import { OutgoingTimers } from './outgoing-timers.ts'
import { Resends } from './resends.ts'
import { StanzaSealer } from './stanza-sealer.ts'

type Deps = {
  socket: WASocket
  account: Account
  keyHolders: SenderKeyHolders
  clock: Clock
  log: Log
  gone: AbortSignal
  ask: Ask
  /** The proxy's agent, for uploads. */
  agent: Agent | undefined
  /** The content that the service sent under this id, from its own records. */
  findSent: (id: NetworkMessageId) => Promise<OutgoingContent | null>
}

export function createSender(deps: Deps): { sender: MessageSender; rosters: GroupRosters } {
  const { socket, account, keyHolders, clock, log, gone, ask, agent, findSent } = deps
  const upload = new MediaUpload({ hosts: new MediaHosts(ask, clock), agent, clock, gone })
  const directory = new DeviceDirectory({ socket, cache: account.devices, ask })
  const rosters = new GroupRosters({ socket, directory, identities: account.identities, clock })
  const timers = new OutgoingTimers({ socket, account, rosters, ask, clock })
  const sealer = new StanzaSealer(socket, gone)
  const missed = new MissedDevices({ socket, account, sealer, directory, rosters, keyHolders, clock, log })
  const sender = new MessageSender({
    encoder: new MessageEncoder({ socket, account, upload, timers, clock, gone, findSent }),
    sealer: new MessageSealer({ socket, account, keyHolders, directory, rosters, ask, sealer, missed }),
    addresses: new Addresses({ socket, addressing: account.addressing, ask }),
    acknowledgements: new Acknowledgements({ socket, clock, gone }),
    resends: new Resends({ socket, keyHolders, rosters, clock }),
    clock,
    gone,
  })
  return { sender, rosters }
}

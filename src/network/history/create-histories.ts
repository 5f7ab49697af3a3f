// Builds the parts of one connection that read histories and ask for them.

import type { Person } from '../../core/address.ts'
import type { HistoryReception } from '../../core/history/past-events.ts'
import type { InstanceName } from '../../core/ids.ts'
import type { Reception } from '../../core/network/reception.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Semaphore } from '../../lib/queues/semaphore.ts'
import type { Account } from '../account/account.ts'
import type { FileSource } from '../files/download.ts'
import { MediaHosts } from '../files/media-hosts.ts'
import type { AuthenticationCreds, WASocket } from '../library/library.ts'
import type { Ask } from '../queries/user-sync.ts'
import { Histories } from './histories.ts'
import { HistoryRequests } from './history-requests.ts'
import { openHistory } from './history-source.ts'
import { readHistory } from './read-history.ts'

/** Shared by all connections. `spool` bounds how many files of histories are on the disk at once. */
export type HistoryTurns = { read: Semaphore; spool: Semaphore }

type Parts = {
  socket: WASocket
  account: Account
  creds: AuthenticationCreds
  receiving: { instance: InstanceName; reception: Partial<Reception & HistoryReception> }
  own: () => Person
  source: FileSource
  ask: Ask
  turns: HistoryTurns
  clock: Clock
  log: Log
  gone: AbortSignal
}

export function createHistories(parts: Parts): { histories: Histories; requests: HistoryRequests } {
  const { socket, account, creds, receiving, own, source, ask, turns, clock, log, gone } = parts
  const hosts = new MediaHosts(ask, clock)
  // A notification does not name the host of its file. Another network than WhatsApp has its own host.
  const mediaHost = async () => (source.isElsewhere ? ((await hosts.get()).hosts[0] ?? null) : null)
  const requests = new HistoryRequests({ socket, gone })
  const open: Parameters<typeof readHistory>[2]['open'] = (note, signal) =>
    openHistory(note, { source, mediaHost, turn: turns.spool, clock }, signal)
  const reading = { account, ...receiving, own, turn: turns.read, open }
  const histories = new Histories({
    receiving,
    read: (note, tell) => readHistory(note, tell, reading, gone),
    requests,
    turn: turns.read,
    creds,
    clock,
    log: log.child({ session: account.sessionId }),
    gone,
  })
  return { histories, requests }
}

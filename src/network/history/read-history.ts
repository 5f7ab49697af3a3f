// Reads one history twice: first all but its messages, for the library; then the messages, for the service.
//
// The addresses of a person stand behind the messages. When the messages are read, the account knows them from the first reading.

import type { Person } from '../../core/address.ts'
import type { HistoryReception } from '../../core/history/past-events.ts'
import type { InstanceName, Jid } from '../../core/ids.ts'
import type { Semaphore } from '../../lib/queues/semaphore.ts'
import type { Account } from '../account/account.ts'
import { completePeople } from '../account/complete-people.ts'
import type { proto } from '../library/library.ts'
import { eachPart } from './each-part.ts'
import { causeOf } from './history-kinds.ts'
import { HistoryPieces } from './history-pieces.ts'
import type { HistorySource } from './history-source.ts'
import { SlimHistory } from './slim-history.ts'

export type ReadingDeps = {
  account: Pick<Account, 'keys'>
  instance: InstanceName
  reception: Partial<HistoryReception>
  /** The account's own addresses. */
  own: () => Person
  /** One history is read at a time, over all connections: it needs memory. A download needs little. */
  turn: Semaphore
  open: (note: proto.Message.IHistorySyncNotification, signal: AbortSignal) => Promise<HistorySource>
}

/** `dropped` counts what is too large. */
export type ReadHistory = { seen: number; chats: ReadonlySet<Jid>; dropped: number }

type Notification = proto.Message.IHistorySyncNotification
/** Resolves when the library has acted on the history. */
type Tell = (slim: SlimHistory) => Promise<void>

export async function readHistory(
  note: Notification,
  tell: Tell,
  deps: ReadingDeps,
  signal: AbortSignal,
): Promise<ReadHistory> {
  await using source = await deps.open(note, signal)
  const leave = await deps.turn.enter(signal)
  try {
    return await readOpened(note, tell, { ...deps, source }, signal)
  } finally {
    leave()
  }
}

async function readOpened(
  note: Notification,
  tell: Tell,
  { source, ...deps }: Omit<ReadingDeps, 'open' | 'turn'> & { source: HistorySource },
  signal: AbortSignal,
): Promise<ReadHistory> {
  const slim = new SlimHistory()
  const survey = (part: Parameters<SlimHistory['add']>[0]) => {
    slim.add(part)
    return undefined
  }
  await eachPart(source, survey, signal)
  await tell(slim)
  const { messages: seen, chats, dropped } = slim
  if (seen > 0) await handMessages(note, source, deps, signal)
  return { seen, chats, dropped }
}

async function handMessages(
  note: Notification,
  source: HistorySource,
  { account, instance, reception, own }: Omit<ReadingDeps, 'open' | 'turn'>,
  signal: AbortSignal,
): Promise<void> {
  const cause = causeOf(note)
  const since = cause && (reception.keepsSince?.(instance, cause) ?? null)
  if (cause === undefined || since === undefined || since === null) return
  const pieces = new HistoryPieces({
    since,
    own,
    complete: (people) => completePeople(people, (kind, ids) => account.keys.get(kind, ids)),
    deliver: async (chats) => {
      // Another account may have the name of the instance by now.
      signal.throwIfAborted()
      await reception.onPastEvents?.(instance, cause, chats)
    },
  })
  await eachPart(source, (part) => pieces.add(part), signal)
  await pieces.flush()
}

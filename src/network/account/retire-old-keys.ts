// Retires the keys of a session that comes from a backup. The keys may have been used after the backup, and a key must not
// seal two messages.
//
// - A Signal session is closed: it still opens what other devices send with it, and the next message to a device opens a new
//   session.
// - Our own key of a group is dropped: the next message to the group makes a new one for all members.

import type { Jid } from '../../core/ids.ts'
import { restoredMark } from '../../storage/stores/accounts/session-key-store.ts'
import type { SessionKeyStore } from '../../storage/stores/accounts/session-key-store.ts'
import type { AuthenticationCreds } from '../library/library.ts'
import type { AccountKeys } from './account-keys.ts'
import { senderKeyHoldersKind, senderKeyName } from './sender-key-holders.ts'

type Deps = { keys: AccountKeys; store: Pick<SessionKeyStore, 'idsOf'>; sessionId: string; now: number }

/** A record of libsignal, as far as it matters here. `closed` is -1 while the session is open. */
type SessionRecord = { _sessions?: Record<string, { indexInfo: { closed: number } }> }

/** Sessions that are changed in one step. */
const batchSize = 100

/** Does nothing unless the session is marked. After a crash the next process does the rest. */
export async function retireOldKeys({ keys, store, sessionId, now }: Deps, creds: AuthenticationCreds): Promise<void> {
  const { kind, id } = restoredMark
  if ((await keys.get(kind, [id]))[id] === undefined) return
  const idsOf = (of: string) => keys.askStorage(() => store.idsOf(sessionId, of))
  const sessions = await idsOf('session')
  for (let at = 0; at < sessions.length; at += batchSize) await closeSome(keys, sessions.slice(at, at + batchSize), now)
  const own = [creds.me?.id, creds.me?.lid]
  const ownKeys = (await idsOf('sender-key')).filter((name) => isOwn(name, own))
  await keys.set({
    'sender-key': noneOf(ownKeys),
    [senderKeyHoldersKind]: noneOf(await idsOf(senderKeyHoldersKind)),
    [kind]: { [id]: null },
  })
}

function closeSome(keys: AccountKeys, ids: readonly string[], now: number): Promise<void> {
  return keys.runStep(async () => {
    const records = await keys.getInStep('session', ids)
    const closed = Object.entries(records).map(([id, record]) => [id, closedRecord(record as SessionRecord, now)])
    await keys.setInStep({ session: Object.fromEntries(closed) as Record<string, unknown> })
  })
}

function closedRecord(record: SessionRecord, now: number): SessionRecord {
  const sessions = Object.entries(record._sessions ?? {}).map(([key, session]) => {
    const { closed } = session.indexInfo
    return [key, { ...session, indexInfo: { ...session.indexInfo, closed: closed === -1 ? now : closed } }]
  })
  return { ...record, _sessions: Object.fromEntries(sessions) as SessionRecord['_sessions'] & object }
}

function isOwn(name: string, own: readonly (Jid | undefined)[]): boolean {
  const group = name.slice(0, name.indexOf('::'))
  return own.some((jid) => senderKeyName(group, jid) === name)
}

function noneOf(ids: readonly string[]): Record<string, null> {
  return Object.fromEntries(ids.map((id) => [id, null]))
}

// Decrypts one message inside a Signal step. The library's own way is slow, so it gets only what is out of the ordinary.

import type { Clock } from '../../lib/clock.ts'
import type { SignalRepositoryWithLIDStore } from '../library/library.ts'
import type { ConnectionKeys } from './connection-keys.ts'
import { senderKeyName } from './sender-key-holders.ts'
import { openWithSenderKey } from './sender-key-open.ts'
import { openWithSession } from './session-open.ts'
import type { StoredSessions } from './session-open.ts'

export type ToOpen = Parameters<SignalRepositoryWithLIDStore['decryptMessage']>[0]
export type ToOpenInGroup = Parameters<SignalRepositoryWithLIDStore['decryptGroupMessage']>[0]

type Decryption = {
  options: ToOpen
  /** Whether a message without a session fails, so that the library handles it. */
  isLeftToLibrary: boolean
  ownIdentity: Uint8Array
  clock: Clock
}

/** Leaves to libsignal what is not the next message of a session. */
export async function decryptInStep(
  stock: SignalRepositoryWithLIDStore,
  connectionKeys: ConnectionKeys,
  { options, isLeftToLibrary, ownIdentity, clock }: Decryption,
): Promise<Uint8Array> {
  const { account } = connectionKeys
  const address = stock.jidToSignalProtocolAddress(options.jid)
  const { [address]: record } = (await account.getInStep('session', [address])) as Record<string, StoredSessions>
  if (!record && isLeftToLibrary) throw new Error('there is no session under this address')
  if (!record) return stock.decryptMessage(options)
  const identities = options.type === 'pkmsg' ? await account.getInStep('identity-key', [address]) : {}
  const theirIdentity = identities[address] as Uint8Array | undefined
  const context = { theirIdentity, ownIdentity, now: () => clock.now() }
  const plain = openWithSession(record, options, context)
  if (!plain) return stock.decryptMessage(options)
  await connectionKeys.setInStep({ session: { [address]: record } })
  return plain
}

/** Leaves to the library what is not the next message of its author. */
export async function decryptGroupInStep(
  stock: SignalRepositoryWithLIDStore,
  connectionKeys: ConnectionKeys,
  options: ToOpenInGroup,
): Promise<Uint8Array> {
  const name = senderKeyName(options.group, options.authorJid) ?? ''
  const { [name]: record } = (await connectionKeys.account.getInStep('sender-key', [name])) as Record<
    string,
    Uint8Array
  >
  const opened = record && openWithSenderKey(record, options.msg)
  if (!opened) return stock.decryptGroupMessage(options)
  await connectionKeys.setInStep({ 'sender-key': { [name]: opened.record } })
  return opened.plain
}

// What the network tells of received messages and of people.

import type { Person } from '../address.ts'
import type { InstanceName, RowId } from '../ids.ts'
import type { NetworkEvent } from '../message.ts'

/** A stored row of the inbox. */
export type ReceivedRow = { id: RowId; event: NetworkEvent; receivedAt: number }

/**
 * New names of a person. A saved name of null was removed from the address book. `isFullSync` marks names that come with all
 * others: from the first read of the address book, or from the history.
 */
export type PersonNames = { person: Person; pushName?: string; savedName?: string | null; isFullSync?: boolean }

/** Two addresses of one person, as the server states them. */
export type PersonPair = { phone: string; lid: string }

/** Listens to what the network receives. An implementation must not throw and must return quickly. */
export type Reception = {
  /** The rows are stored already and come in order. After a restart the listener finds them in the inbox. */
  onReceived(instance: InstanceName, rows: readonly ReceivedRow[]): void
  /** Resolves when the names are stored. After a rejection the names of the address book come again with another connection. */
  onNames(instance: InstanceName, names: readonly PersonNames[]): Promise<void> | undefined
  /** Best effort: the network sends pairs again. */
  onPairs(instance: InstanceName, pairs: readonly PersonPair[]): void
  /** The network received something that belongs to no chat, such as a status, a channel or a protocol message. */
  onPassedOver(instance: InstanceName, kind: string): void
  /** The network delivered something again. It is confirmed again and otherwise ignored. */
  onRepeated(instance: InstanceName): void
}

// The network room against a simulated network: its settings, the keys of linked accounts, and the room itself.

import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { SimNetwork } from '../../../sim/network/sim-network.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { encodeKey } from '../../../src/network/account/key-codec.ts'
import { WhatsappNetwork } from '../../../src/network/whatsapp-network.ts'
import type { Database } from '../../../src/storage/database.ts'
import { ClientVersionStore } from '../../../src/storage/stores/accounts/client-version-store.ts'
import { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import type { SessionKeyWrite } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { JournalStore } from '../../../src/storage/stores/messages/journal-store.ts'
import { silentLog } from '../../harness/logs.ts'
import { holdsAt, nodeHold } from '../../harness/holds.ts'

export type NetworkDeps = ConstructorParameters<typeof WhatsappNetwork>[0]

type Stored = { database: Database; epoch: number; settings: NetworkDeps['settings'] }

export function settingsFor(sim: Pick<SimNetwork, 'url' | 'rootKey'>): NetworkDeps['settings'] {
  return { url: sim.url, rootKey: sim.rootKey.toString('hex'), caFile: '', version: [], proxy: null }
}

/** The room on what this database holds; it runs on the time of day and logs nothing, unless the test says otherwise. */
export function createNetwork({ database, epoch, settings }: Stored, more: Partial<NetworkDeps> = {}): WhatsappNetwork {
  return new WhatsappNetwork({
    keys: new SessionKeyStore(database),
    journal: new JournalStore(database),
    versions: new ClientVersionStore(database, () => nodeHold(epoch)),
    ...holdsAt(() => epoch),
    clock: systemClock,
    log: silentLog,
    settings,
    ...more,
  })
}

/** Stores the keys of an account as a pairing leaves them behind. */
export async function storeLinked(
  sim: SimNetwork,
  phone: SimPhone,
  save: (writes: SessionKeyWrite[]) => Promise<void>,
): Promise<void> {
  const { creds, keys } = sim.linkReady(phone)
  const writes = [{ kind: 'creds', id: 'creds', value: encodeKey('creds', creds) }]
  for (const [kind, values] of Object.entries(keys)) {
    for (const [id, value] of Object.entries(values as Record<string, unknown>)) {
      writes.push({ kind, id, value: encodeKey(kind, value) })
    }
  }
  await save(writes)
}

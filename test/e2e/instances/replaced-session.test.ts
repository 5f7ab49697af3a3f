// Keys of a pairing that the network never heard of: stored by a process that was killed before it could tell.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import type { Database } from '../../../src/storage/database.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { numberOf } from '../../harness/linked-seed.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import { storeLinked } from '../../network/harness/network-room.ts'
import { holdOf } from '../../harness/holds.ts'

/** Credentials that look linked, of a device that this network does not know, as the pairing of instance n0. */
async function stageUnheard(database: Database): Promise<void> {
  await using elsewhere = await SimNetwork.start({ seed: 'elsewhere' })
  const leases = new LeaseStore(database)
  const epoch = (await leases.acquire('unheard', 60_000)) ?? 0
  const keys = new SessionKeyStore(database)
  const phone = elsewhere.account({ phone: numberOf(0) })
  await storeLinked(elsewhere, phone, (writes) => keys.save(holdOf('a', epoch), 'unheard', writes))
  await database.write(database.query.updateTable('instances').set({ pairing_session_id: 'unheard' }))
  await leases.release('unheard', epoch)
}

for (const engine of drawnEngines(import.meta.url)) {
  test(`a stored pairing that the network never heard of does not cost the session before it, on ${engine}`, async () => {
    await using world = await World.open({ engine, seed: stageUnheard })
    const { network, service } = world
    await waitUntil('the account logs in a second time', () => network.loginAttempts === 2)
    const { jid } = await world.reaches('n0', 'ready')
    assert.equal(jid, `${numberOf(0)}@s.whatsapp.net`)
    assert.equal(network.loginAttempts, 2)
    const { database } = service
    await waitUntil('only the good session has keys', async () => {
      const keys = await database.read(database.query.selectFrom('session_keys').select('session_id').distinct())
      return keys.length === 1 && keys[0]?.session_id === 'session-0'
    })
  })
}

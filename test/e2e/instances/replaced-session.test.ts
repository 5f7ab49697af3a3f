// Keys of a pairing that the network never heard of: stored by a process that was killed before it could tell.

import '../../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimNetwork } from '../../../sim/network/sim-network.ts'
import type { Database } from '../../../src/storage/database.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { SessionKeyStore } from '../../../src/storage/stores/accounts/session-key-store.ts'
import { engines } from '../../harness/databases.ts'
import { numberOf, seedLinked } from '../../harness/linked-seed.ts'
import { Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { storeLinked } from '../../network/harness/bed.ts'

/** Credentials that look linked, of a device that this network does not know, as the pairing of instance n0. */
async function stageUnheard(database: Database): Promise<void> {
  await using elsewhere = await SimNetwork.start({ seed: 'elsewhere' })
  const leases = new LeaseStore(database)
  const epoch = (await leases.acquire('unheard', 60_000)) ?? 0
  const keys = new SessionKeyStore(database)
  const phone = elsewhere.account({ phone: numberOf(0) })
  await storeLinked(elsewhere, phone, (writes) => keys.save(epoch, 'unheard', writes))
  await database.write(database.query.updateTable('instances').set({ pairing_session_id: 'unheard' }))
  await leases.release('unheard', epoch)
}

for (const engine of engines) {
  test(`a pairing that was stored and never told does not cost the session before, on ${engine}`, async () => {
    await using network = await SimNetwork.start()
    const seed = async (database: Database) => {
      await seedLinked(database, network, 1)
      await stageUnheard(database)
    }
    await using service = await Service.start({ engine, network, seed })
    let seen: unknown
    const isReady = async () => {
      seen = (await service.get('/api/instances/n0')).body
      return network.loginAttempts === 2 && (seen as { state: string }).state === 'ready'
    }
    await waitUntil('the account is ready at the second login', isReady, { instead: () => seen })
    assert.equal((seen as { jid: string }).jid, `${numberOf(0)}@s.whatsapp.net`)
    const { database } = service
    await waitUntil('only the good session has keys', async () => {
      const keys = await database.read(database.query.selectFrom('session_keys').select('session_id').distinct())
      return keys.length === 1 && keys[0]?.session_id === 'session-0'
    })
  })
}

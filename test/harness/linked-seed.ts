// Instances that are linked before the service starts, without the cost of pairing each.

import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import type { SimNetwork } from '../../sim/network/sim-network.ts'
import type { Database } from '../../src/storage/database.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { SessionKeyStore } from '../../src/storage/stores/accounts/session-key-store.ts'
import { storeLinked } from '../network/harness/network-room.ts'
import { holdOf } from './holds.ts'
import { sampleInstanceColumns } from './samples.ts'

export const numberOf = (index: number) => `55119${String(10_000_000 + index)}`

/** Stores instances `n0`, `n1`, … with the credentials of as many linked accounts. */
export async function seedLinked(database: Database, sim: SimNetwork, count: number): Promise<SimPhone[]> {
  const leases = new LeaseStore(database)
  const epoch = await leases.acquire('seed', 60_000)
  if (epoch === undefined) throw new Error('the lease was not free')
  const keys = new SessionKeyStore(database)
  const phones: SimPhone[] = []
  for (let index = 0; index < count; index++) {
    const phone = sim.account({ phone: numberOf(index) })
    const sessionId = `session-${index}`
    await storeLinked(sim, phone, (writes) => keys.save(holdOf('a', epoch), sessionId, writes))
    const jid = `${numberOf(index)}@s.whatsapp.net`
    const linked = { sessionId, jid, lastJid: jid, state: 'ready' as const, pairedAt: 1, readyAt: 2 }
    await database.write(database.query.insertInto('instances').values(sampleInstanceColumns(`n${index}`, linked)))
    phones.push(phone)
  }
  await leases.release('seed', epoch)
  return phones
}

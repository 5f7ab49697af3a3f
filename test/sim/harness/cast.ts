// The account and the person that most tests of the network use.
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import type { SimNetwork } from '../../../sim/network/sim-network.ts'
import { memoryAuth, type MemoryAuth } from './memory-auth.ts'

export const ANA = { phone: '5511999990001', lid: '100000000000001', name: 'Ana' }
export const BOB = { phone: '5511888880001', lid: '200000000000001', pushName: 'Bob' }

export type Cast = { phone: SimPhone; bob: SimPerson; auth: MemoryAuth }

/** Adds both to the network and links a client of the account without pairing. */
export function addCast(network: SimNetwork): Cast {
  const phone = network.account(ANA)
  return { phone, bob: network.person(BOB), auth: memoryAuth(network.linkReady(phone)) }
}

// An account whose write was refused keeps the accounts under the same right from connecting, as long as it is here.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SimPerson } from '../../sim/network/people/sim-person.ts'
import type { SimPhone } from '../../sim/network/accounts/sim-phone.ts'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import type { Hold, NodeHold } from '../../src/core/nodes/hold.ts'
import type { SessionKeyStore } from '../../src/storage/stores/accounts/session-key-store.ts'
import { nodeHold } from '../harness/holds.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { Bed } from './harness/bed.ts'
import type { Line } from './harness/line.ts'
import type { NetworkDeps } from './harness/network-room.ts'

const refusal = 'session keys belong to another process'

/** Storage that refuses the writes of the account `s` while it is lost, and can hold them back. */
class Refusals {
  isLost = false
  #held: { asked: PromiseWithResolvers<undefined>; released: PromiseWithResolvers<undefined> } | undefined

  /** Resolves when a refused write waits. */
  hold(): Promise<undefined> {
    this.#held = { asked: Promise.withResolvers(), released: Promise.withResolvers() }
    return this.#held.asked.promise
  }

  release(): void {
    this.#held?.released.resolve(undefined)
  }

  in(store: SessionKeyStore): NetworkDeps['keys'] {
    return {
      load: store.load.bind(store),
      idsOf: store.idsOf.bind(store),
      dropSession: store.dropSession.bind(store),
      save: async (hold, sessionId, ...writes) => {
        const isRefused = this.isLost && sessionId === 's'
        if (isRefused) this.#held?.asked.resolve(undefined)
        if (isRefused) await this.#held?.released.promise
        await store.save(isRefused ? nodeHold(hold.epoch + 1) : inDatabase(hold), sessionId, ...writes)
      },
    }
  }
}

/** The database of the test knows only the first right. */
function inDatabase(hold: Hold | NodeHold): Hold | NodeHold {
  return { ...hold, epoch: 1 }
}

type Stage = { bed: Bed; phone: SimPhone; bob: SimPerson; line: Line; refusals: Refusals; rights: Map<string, number> }

/** `s` is online, and `other` is linked. Both have the same right. */
async function stage(): Promise<Stage & AsyncDisposable> {
  const refusals = new Refusals()
  const rights = new Map<string, number>()
  const rightOf = (instance: string): Hold => ({ instance, ...nodeHold(), epoch: 1 + (rights.get(instance) ?? 0) })
  const bed = await Bed.open({ keys: (store) => refusals.in(store), network: { holdOf: rightOf } })
  const phone = await bed.linked('s')
  await bed.linked('other', '5511999990002')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const line = await bed.online('s')
  return { bed, phone, bob, line, refusals, rights, [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose]() }
}

async function fence({ refusals, bob, phone, line, bed }: Stage): Promise<void> {
  refusals.isLost = true
  bob.text(phone, 'too late')
  await line.closing()
  await assert.rejects(bed.dial('other'), NotHeldError)
}

describe('the accounts under the right of a refused account connect again', () => {
  test('when the account is opened under a later right', async () => {
    await using set = await stage()
    await fence(set)
    set.refusals.isLost = false
    set.rights.set('s', 1)
    await set.bed.online('s')
    await set.bed.online('other')
  })

  test('when the account is given up', async () => {
    await using set = await stage()
    await fence(set)
    await set.bed.network.release('s')
    await set.bed.online('other')
  })

  test('when the write is refused after the account was given up', async () => {
    await using set = await stage()
    const { bed, refusals, phone, bob } = set
    const waits = refusals.hold()
    refusals.isLost = true
    bob.text(phone, 'too late')
    await waits
    await bed.network.forget({ sessionId: 's', instance: 's' })
    refusals.release()
    await waitUntil('the write is refused', () => bed.logs.withMessage(refusal).length > 0)
    await bed.online('other')
  })
})

test('a process that has lost an account meanwhile hears of it at the login, before any message comes', async () => {
  await using set = await stage()
  const { bed, line, refusals } = set
  await line.session.close()
  refusals.isLost = true
  const { reason } = await (await bed.dial('s')).closing()
  assert.match(reason, /another process/)
})

// A node that is cut off from the database opens no session: another node may have it open soon.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import type { SessionKeyStore } from '../../src/storage/stores/accounts/session-key-store.ts'
import { holdsWithout } from '../harness/holds.ts'
import { Bed } from './harness/bed.ts'
import type { NetworkDeps } from './harness/network-room.ts'

/** Storage that answers reads only after `release`. */
class SlowReads {
  readonly #released = Promise.withResolvers<undefined>()
  readonly #asked = Promise.withResolvers<undefined>()

  get asked(): Promise<undefined> {
    return this.#asked.promise
  }

  release(): void {
    this.#released.resolve(undefined)
  }

  in(store: SessionKeyStore): NetworkDeps['keys'] {
    return {
      save: store.save.bind(store),
      idsOf: store.idsOf.bind(store),
      dropSession: store.dropSession.bind(store),
      load: async (...key) => {
        this.#asked.resolve(undefined)
        await this.#released.promise
        return store.load(...key)
      },
    }
  }
}

test('a node that is cut off opens no session', async () => {
  let isCutOff = true
  await using bed = await Bed.open({ network: { isCutOff: () => isCutOff } })
  await bed.linked('s')
  await assert.rejects(bed.dial('s'), /could not reach the database/)
  assert.equal(bed.sim.loginAttempts, 0)
  isCutOff = false
  await bed.online('s')
})

describe('a session that is being opened while storage hangs', () => {
  test('is not opened when the node is cut off meanwhile', async () => {
    let isCutOff = false
    const reads = new SlowReads()
    await using bed = await Bed.open({ keys: (store) => reads.in(store), network: { isCutOff: () => isCutOff } })
    await bed.linked('s')
    const opening = bed.dial('s')
    await reads.asked
    isCutOff = true
    reads.release()
    await assert.rejects(opening, /could not reach the database/)
    assert.equal(bed.sim.loginAttempts, 0)
  })

  test('is not opened when another node has got the instance meanwhile', async () => {
    const lost = new Set<string>()
    const reads = new SlowReads()
    await using bed = await Bed.open({ keys: (store) => reads.in(store), network: holdsWithout(lost) })
    await bed.linked('s')
    const opening = bed.dial('s')
    await reads.asked
    lost.add('s')
    reads.release()
    await assert.rejects(opening, NotHeldError)
    assert.equal(bed.sim.loginAttempts, 0)
  })
})

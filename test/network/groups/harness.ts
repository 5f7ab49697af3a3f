// What the tests of groups share: an account with two people, and the expected failure of a call.

import assert from 'node:assert/strict'
import { GroupError } from '../../../src/core/group-administration.ts'
import type { GroupFailure } from '../../../src/core/group-administration.ts'
import type { Bed } from '../harness/bed.ts'

/** The id of a group that does not exist. */
export const nowhere = '120363099999999999'

export async function scene(bed: Bed) {
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001' })
  const eve = bed.sim.person({ phone: '5511888880002' })
  const { session } = await bed.online('s')
  return { phone, bob, eve, session, groups: session.groups }
}

export function rejectsWith(work: Promise<unknown>, failure: GroupFailure, reason: RegExp): Promise<void> {
  return assert.rejects(work, (error) => {
    assert.ok(error instanceof GroupError, String(error))
    assert.equal(error.failure, failure, error.message)
    assert.match(error.message, reason)
    return true
  })
}

// Calls that ring are rejected on the network; calls that do not ring any more are left alone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimCall } from '../../../sim/network/people/sim-call.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import type { SimPhone } from '../../../sim/network/accounts/sim-phone.ts'
import type { CallEvent } from '../../../src/core/message.ts'
import { Bed } from '../harness/bed.ts'
import type { Line } from '../harness/line.ts'

const bobs = { phone: '5511888880001', lid: '100000000000001', pushName: 'Bob' }
const caller = '100000000000001@lid'

type Opened = { phone: SimPhone; bob: SimPerson; line: Line }

async function open(bed: Bed): Promise<Opened> {
  const phone = await bed.linked('s')
  const bob = bed.sim.person(bobs)
  return { phone, bob, line: await bed.online('s') }
}

const rings = async (bed: Bed, { id }: SimCall) => (await bed.event(id)) as CallEvent

test('a voice call and a video call are rejected, and the caller sees it', async () => {
  await using bed = await Bed.open()
  const { phone, bob, line } = await open(bed)
  for (const video of [false, true]) {
    const call = bob.call(phone, { video })
    const event = await rings(bed, call)
    assert.deepEqual([event.caller, event.video], [caller, video])
    assert.equal(await line.session.rejectCall(call.id, caller), true)
    await call.rejected()
  }
})

test('a call that the caller has ended, or that the owner has taken, is not rejected', async () => {
  await using bed = await Bed.open()
  const { phone, bob, line } = await open(bed)
  for (const finish of [
    (call: SimCall) => {
      call.end()
    },
    (call: SimCall) => {
      call.takeElsewhere()
    },
  ]) {
    const call = bob.call(phone)
    await rings(bed, call)
    finish(call)
    await bed.event(bob.text(phone, 'after the call').id)
    assert.equal(await line.session.rejectCall(call.id, caller), false)
    assert.equal(call.isRejected, false)
  }
})

test('an unknown call is not rejected', async () => {
  await using bed = await Bed.open()
  const { line } = await open(bed)
  assert.equal(await line.session.rejectCall('UNKNOWN', caller), false)
})

test('a call in a group has no address for a rejection', async () => {
  await using bed = await Bed.open()
  const { phone, bob } = await open(bed)
  const group = bed.sim.group('Team', bob, [phone])
  const event = await rings(bed, bob.call(phone, { groupJid: group.jid }))
  assert.deepEqual([event.caller, event.chat.kind], [undefined, 'group'])
})

test('a call that waited on the server has no address for a rejection', async () => {
  await using bed = await Bed.open()
  const phone = await bed.linked('s')
  const call = bed.sim.person(bobs).call(phone)
  await bed.online('s')
  assert.equal((await rings(bed, call)).caller, undefined)
})

test('a rejection that the network refuses, or that it does not confirm, fails', async () => {
  await using bed = await Bed.open()
  const { phone, bob, line } = await open(bed)
  bed.sim.fault({ kind: 'call_error', code: 400 })
  const call = bob.call(phone)
  await rings(bed, call)
  await assert.rejects(line.session.rejectCall(call.id, caller), /refused to reject the call: 400/)
  assert.equal(call.isRejected, false)
  bed.sim.fault({ kind: 'drop_on', tag: 'call' })
  await assert.rejects(line.session.rejectCall(call.id, caller), /connection has ended/)
})

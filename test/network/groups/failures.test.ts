// A change of a group without a clear answer: the connection ends, the server stays silent, or the answer cannot be read.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stanza } from '../../../sim/network/wire/stanza.ts'
import { IqError } from '../../../sim/network/server/iq-router.ts'
import type { GroupAdministration } from '../../../src/core/group-administration.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { Bed } from '../harness/bed.ts'
import { rejectsWith, scene } from './harness.ts'

test('a change whose connection ends before the answer has failed, and may have been made', async () => {
  await using bed = await Bed.open()
  const { phone, bob, groups } = await scene(bed)
  const group = bed.sim.group('Team', phone, [bob])
  bed.sim.router.override('w:g2 set subject', () => {
    group.setSubject(phone.user, 'Renamed')
    void bed.sim.strike({ kind: 'drop' })
    return 'silence'
  })
  await rejectsWith(groups.setSubject(group.id, 'Renamed'), 'failed', /may have been made/)
  assert.equal(group.subject, 'Renamed')
  await rejectsWith(groups.details(group.id), 'failed', /^the network did not answer; try again later$/)
})

const calls: Record<string, (groups: GroupAdministration, id: string, person: string) => Promise<unknown>> = {
  'get query': (groups, id) => groups.details(id),
  'get participating': (groups) => groups.list(),
  'set subject': (groups, id) => groups.setSubject(id, 'x'),
  'set description': (groups, id) => groups.setTopic(id, 'x'),
  'set locked': (groups, id) => groups.setLocked(id, true),
  'set announcement': (groups, id) => groups.setAnnounce(id, true),
  'set add': (groups, id, person) => groups.changeMembers(id, 'add', [person]),
  'set create': (groups, _, person) => groups.create('x', [person]),
  'set leave': (groups, id) => groups.leave(id),
  'get invite': (groups, id) => groups.inviteCode(id),
  'set invite': (groups, id) => groups.revokeInvite(id),
  'get membership_approval_requests': (groups, id) => groups.joinRequests(id),
  'set membership_requests_action': (groups, id, person) => groups.decideRequests(id, 'approve', [person]),
}

test('every call fails when the server stays silent for ten seconds', async () => {
  const clock = new LeapingClock()
  await using bed = await Bed.open({ clock })
  const { phone, bob, groups } = await scene(bed)
  const group = bed.sim.group('Team', phone, [bob])
  for (const [question, call] of Object.entries(calls)) {
    const asked = Promise.withResolvers<undefined>()
    const giveBack = bed.sim.router.override(`w:g2 ${question}`, () => {
      asked.resolve(undefined)
      return 'silence'
    })
    // Only a change may have been made.
    const end = question.startsWith('set') ? 'the change may have been made' : 'try again later'
    const sentence = new RegExp(`^the network did not answer; ${end}$`)
    const failure = rejectsWith(call(groups, group.id, bob.user.pnJid), 'failed', sentence)
    await asked.promise
    await clock.advance(10_000)
    await failure
    giveBack()
  }
})

test('a description that another administrator changes meanwhile is written in the second try', async () => {
  await using bed = await Bed.open()
  const { phone, bob, groups } = await scene(bed)
  const group = bed.sim.group('Team', phone, [bob])
  let tries = 0
  bed.sim.router.override('w:g2 set description', () => {
    tries += 1
    if (tries === 1) group.setDescription(phone.user, 'from the phone')
    return null
  })
  await groups.setTopic(group.id, 'ours')
  assert.equal(group.description?.body, 'ours')
  assert.equal(tries, 2)
})

test('a description that always conflicts is refused after the second try', async () => {
  await using bed = await Bed.open()
  const { phone, bob, groups } = await scene(bed)
  const group = bed.sim.group('Team', phone, [bob])
  bed.sim.router.override('w:g2 set description', () => {
    throw new IqError(409, 'conflict')
  })
  await rejectsWith(groups.setTopic(group.id, 'ours'), 'refused', /changed meanwhile \(code 409\)/)
})

const codes = [
  [400, 'refused'],
  [406, 'refused'],
  [429, 'refused'],
  [463, 'refused'],
  [500, 'failed'],
] as const

for (const [code, failure] of codes) {
  test(`the code ${code} of the server makes a change ${failure}`, async () => {
    await using bed = await Bed.open()
    const { phone, bob, groups } = await scene(bed)
    const group = bed.sim.group('Team', phone, [bob])
    bed.sim.router.override('w:g2 set locked', () => {
      throw new IqError(code, 'no')
    })
    await rejectsWith(groups.setLocked(group.id, true), failure, new RegExp(`code ${code}`))
  })
}

test('the refusal of a new group does not speak of another group', async () => {
  await using bed = await Bed.open()
  const { bob, groups } = await scene(bed)
  let code = 403
  const giveBack = bed.sim.router.override('w:g2 set create', () => {
    throw new IqError(code, 'no')
  })
  const create = () => groups.create('New', [bob.user.pnJid])
  await rejectsWith(create(), 'refused', /^the network refused the request \(code 403\)$/)
  code = 404
  await rejectsWith(create(), 'refused', /^the network refused the request \(code 404\)$/)
  giveBack()
  await rejectsWith(groups.create('x'.repeat(101), [bob.user.pnJid]), 'refused', /does not accept the value/)
})

test('answers that cannot be read are failures', async () => {
  await using bed = await Bed.open()
  const { phone, bob, groups } = await scene(bed)
  const group = bed.sim.group('Team', phone, [bob])
  for (const question of ['get query', 'get participating', 'set create', 'set add', 'get invite']) {
    bed.sim.router.override(`w:g2 ${question}`, () => [stanza('junk')])
  }
  await rejectsWith(groups.details(group.id), 'failed', /names no group/)
  await rejectsWith(groups.list(), 'failed', /names no groups/)
  await rejectsWith(groups.create('x', [bob.user.pnJid]), 'failed', /names no group/)
  await rejectsWith(groups.changeMembers(group.id, 'add', [bob.user.pnJid]), 'failed', /names no members/)
  await rejectsWith(groups.inviteCode(group.id), 'failed', /names no invite code/)
})

test('a person about whom the server says nothing counts neither as changed nor as refused', async () => {
  await using bed = await Bed.open()
  const { phone, bob, eve, groups } = await scene(bed)
  const group = bed.sim.group('Team', phone, [])
  bed.sim.router.override('w:g2 set add', () => [
    stanza('add', {}, [stanza('participant', { jid: eve.user.lidJid, phone_number: eve.user.pnJid })]),
  ])
  const results = await groups.changeMembers(group.id, 'add', [bob.user.pnJid, eve.user.pnJid])
  assert.deepEqual(
    results.map(({ code }) => code),
    ['unanswered', null],
  )
})

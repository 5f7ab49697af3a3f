// What the group endpoints answer when a call cannot succeed: every endpoint, every reason.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import type { SimGroup } from '../../../sim/network/groups/sim-group.ts'
import type { ErrorCode } from '../../../src/core/errors.ts'
import { assertRefused } from '../../harness/assertions.ts'
import { World } from '../../harness/world.ts'
import { GroupWorld } from './harness/group-world.ts'

const jids = ['5511888880002']
const unknownGroup = '120363099999999999@g.us'

/** The endpoints of one group, without the picture, which takes a form. */
const endpoints = [
  { method: 'GET', path: '' },
  { method: 'DELETE', path: '' },
  { method: 'POST', path: '/name', body: { name: 'Other' } },
  { method: 'POST', path: '/topic', body: { topic: 'Other' } },
  { method: 'POST', path: '/locked', body: { locked: true } },
  { method: 'POST', path: '/announce', body: { announce: true } },
  { method: 'POST', path: '/participants', body: { action: 'remove', jids } },
  { method: 'GET', path: '/invite' },
  { method: 'DELETE', path: '/invite' },
  { method: 'GET', path: '/requests' },
  { method: 'POST', path: '/requests', body: { action: 'approve', jids } },
] as const

const creation = { method: 'POST', path: '', body: { name: 'New', participants: jids } }
const jpeg = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
  .jpeg()
  .toBuffer()

const open = async () => new GroupWorld(await World.open())

async function assertAll(set: GroupWorld<World>, jid: string, code: ErrorCode, sentence?: RegExp): Promise<void> {
  for (const { path, ...call } of endpoints) {
    assertRefused(await set.call({ ...call, path: `/${encodeURIComponent(jid)}${path}` }), code, sentence)
  }
  assertRefused(await set.postForm(`/${encodeURIComponent(jid)}/picture`, 'picture', jpeg), code, sentence)
}

test('an unknown group is not found, and neither is a group of which the account is no member', async () => {
  await using set = await open()
  const { world, bob, eve } = set
  const foreign = world.network.group('Foreign', bob, [eve])
  await assertAll(set, unknownGroup, 'SERVICE_GROUP_NOT_FOUND')
  await assertAll(set, foreign.jid, 'SERVICE_GROUP_NOT_FOUND')
  assert.deepEqual(await set.audit(), [])
})

test('an address that is no group is a bad request', async () => {
  await using set = await open()
  const wrong = [
    '5511888880001@s.whatsapp.net',
    '200000000000001@lid',
    'a',
    '1@g.us.example',
    '1@G.US',
    '@g.us',
    '1-2-3@g.us',
  ]
  for (const jid of wrong) {
    await assertAll(set, jid, 'SERVICE_BAD_REQUEST', /^jid is not the address of a group, such as/)
  }
  // An old id, with the number of the founder and the time.
  assertRefused(await set.get('/5511888880001-1600000000@g.us'), 'SERVICE_GROUP_NOT_FOUND')
})

test('an instance that is not ready, or that does not exist, manages no groups', async () => {
  await using set = await open()
  const { world } = set
  const group = set.ownGroup()
  for (const call of [creation, { method: 'GET', path: '' }, { method: 'GET', path: `/${group.jid}` }]) {
    assertRefused(await set.call(call, 'other'), 'SERVICE_INSTANCE_NOT_FOUND')
  }
  world.network.fault({ kind: 'login_failure', code: 503, times: Infinity })
  await world.network.strike({ kind: 'drop', account: world.phone.user.phone })
  await world.reaches('n0', (state) => state !== 'ready')
  await assertAll(set, group.jid, 'SERVICE_NOT_READY', /not ready/)
  assertRefused(await set.get(''), 'SERVICE_NOT_READY')
  assertRefused(await set.call(creation), 'SERVICE_NOT_READY')
  assert.deepEqual(await set.audit(), [])
})

test('an account that is no administrator changes nothing, and the reason says so', async () => {
  await using set = await open()
  const { bob } = set
  const group = set.bobsGroup()
  group.setLocked(bob.user, true)
  const facts = ({ subject, description, locked, announce, roles, inviteCode, picture }: SimGroup) => {
    return { subject, description, locked, announce, members: [...roles.values()], inviteCode, picture }
  }
  const before = facts(group)
  const forMembers = ['GET ', 'DELETE ']
  for (const { method, path, ...call } of endpoints.filter(
    (each) => !forMembers.includes(`${each.method} ${each.path}`),
  )) {
    const answer = await set.call({ ...call, method, path: `/${group.jid}${path}` })
    assertRefused(answer, 'SERVICE_NETWORK_FAILED', /not an administrator/)
  }
  assertRefused(
    await set.postForm(`/${group.jid}/picture`, 'picture', jpeg),
    'SERVICE_NETWORK_FAILED',
    /not an administrator/,
  )
  assert.deepEqual(facts(group), before)
  assert.deepEqual(await set.audit(), [])
})

test('a body with a wrong value is a bad request that names the field, and changes nothing', async () => {
  await using set = await open()
  const group = set.ownGroup()
  const people = Array.from({ length: 1025 }, (_, n) => `${5511900000000 + n}`)
  const wrong: [string, unknown, RegExp][] = [
    ['/name', {}, /name/],
    ['/name', { name: 7 }, /^name must be string/],
    ['/name', { name: '' }, /^name must NOT have fewer/],
    ['/name', { name: ' \n' }, /^name must not be empty/],
    ['/name', { name: '👋'.repeat(101) }, /^name must NOT have more than 100 characters/],
    ['/topic', { topic: null }, /^topic must be string/],
    ['/topic', { topic: 'a'.repeat(2049) }, /^topic must NOT have more than 2048 characters/],
    ['/locked', { locked: 'true' }, /^locked must be boolean/],
    ['/locked', {}, /locked/],
    ['/announce', { announce: 1 }, /^announce must be boolean/],
    ['/participants', { action: 'add' }, /jids/],
    ['/participants', { action: 'invite', jids }, /^action/],
    ['/participants', { action: 'add', jids: [] }, /^jids must NOT have fewer/],
    ['/participants', { action: 'add', jids: people }, /^jids must NOT have more than 1024/],
    ['/participants', { action: 'add', jids: '5511888880002' }, /^jids must be array/],
    ['/participants', { action: 'add', jids: [['5511888880002']] }, /^jids\.0 must be string/],
    ['/participants', { action: 'add', jids: [...jids, 'Maria'] }, /^jids\.1 is not the address of a person/],
    ['/participants', { action: 'add', jids: [group.jid] }, /^jids\.0 is not the address of a person/],
    ['/participants', { action: 'add', jids, invite: 'yes' }, /^invite must be boolean/],
    ['/requests', { action: 'add', jids }, /^action/],
    ['/requests', { action: 'approve', jids: ['x'] }, /^jids\.0/],
  ]
  for (const [path, body, sentence] of wrong) {
    assertRefused(await set.post(`/${group.jid}${path}`, body), 'SERVICE_BAD_REQUEST', sentence)
  }
  const creations: [unknown, RegExp][] = [
    [{ participants: jids }, /name/],
    [{ name: 'New' }, /participants/],
    [{ name: 'New', participants: [] }, /^participants must NOT have fewer/],
    [{ name: 'a'.repeat(101), participants: jids }, /^name/],
    [{ name: 'New', participants: ['x'] }, /^participants\.0 is not the address of a person/],
  ]
  for (const [body, sentence] of creations) assertRefused(await set.post('', body), 'SERVICE_BAD_REQUEST', sentence)
  assert.equal(set.world.network.groups.of(set.world.phone.user).length, 1)
  assert.deepEqual(await set.audit(), [])
  // Unknown fields are ignored, as everywhere.
  assert.equal((await set.post(`/${group.jid}/name`, { name: 'Other', more: 1 })).status, 200)
})

test('a change whose outcome is unknown fails, and the audit log says that it may have been made', async () => {
  await using set = await open()
  const { world } = set
  const group = set.ownGroup()
  world.network.fault({ kind: 'query_error', query: 'w:g2 set subject', code: 500 })
  assertRefused(await set.post(`/${group.jid}/name`, { name: 'Other' }), 'SERVICE_NETWORK_FAILED')
  world.network.fault({ kind: 'query_error', query: 'w:g2 set create', code: 500 })
  assertRefused(await set.call(creation), 'SERVICE_NETWORK_FAILED')
  const metadata = { unconfirmed: true }
  assert.deepEqual(await set.audit(), [
    { action: 'group.name', instance: 'n0', target: group.jid, metadata },
    { action: 'group.create', instance: 'n0', target: '', metadata },
  ])
})

// A person who can only be invited gets an invitation when the caller asks for it, within the limits of the account.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage, unwrap } from '../../../sim/network/people/received-message.ts'
import type { SimGroup } from '../../../sim/network/groups/sim-group.ts'
import { World } from '../../harness/world.ts'
import type { WorldOptions } from '../../harness/world.ts'
import { GroupWorld } from './harness/group-world.ts'

const eves = '5511888880002@s.whatsapp.net'
const mias = '5511888880003@s.whatsapp.net'
const invited = (jid: string) => ({ jid, status: 'invited', code: '403' })
const failed = (jid: string) => ({ jid, status: 'failed', code: '403' })

/** Eve and Mia let no one add them to groups. */
async function open(options: WorldOptions = {}) {
  const set = new GroupWorld(await World.open(options))
  const mia = set.world.network.person({ phone: '5511888880003', lid: '200000000000003' })
  for (const { user } of [set.eve, mia]) user.refusesGroups = true
  return { set, mia, group: set.ownGroup(), [Symbol.asyncDispose]: () => set[Symbol.asyncDispose]() }
}

async function add(set: GroupWorld<World>, { jid }: SimGroup, jids: readonly string[], invite?: boolean) {
  const body = { action: 'add', jids, ...(invite !== undefined && { invite }) }
  const answer = await set.post(`/${jid}/participants`, body)
  assert.equal(answer.status, 200, answer.text)
  return answer.body as { count: number; results: unknown }
}

test('the invitation arrives with a text, the person enters with it, and the books count one message', async () => {
  await using scene = await open({ environment: { SERVICE_LOCALE: 'pt' } })
  const { set, group } = scene
  const { world, eve } = set
  const lea = world.network.person({ phone: '5511888880004', lid: '200000000000004' })
  const { count, results } = await add(set, group, [eves, '5511888880004'], true)
  assert.deepEqual([count, results], [1, [invited(eves), { jid: '5511888880004@s.whatsapp.net', status: 'ok' }]])
  assert.equal(group.roles.get(lea.user), 'member')
  const received = await eve.messages.waitFor('the invitation', () => true)
  const { groupInviteMessage: message } = unwrap(received.message)
  assert.equal(textOfMessage(received.message), 'Convite para entrar no meu grupo do WhatsApp')
  assert.deepEqual([message?.groupJid, message?.groupName], [group.jid, 'Team'])
  group.accept(eve.user, message?.inviteCode ?? '')
  assert.equal(group.roles.get(eve.user), 'member')
  const [entry] = await set.audit()
  assert.deepEqual(entry?.metadata, { action: 'add', ok: 1, failed: 0, invited: 1 })
  const usage = (await world.service.get('/api/instances/n0/usage')).body as { rows: { messages_out: number }[] }
  assert.equal(usage.rows[0]?.messages_out, 1)
})

test('no invitation is sent unless the caller asks for it', async () => {
  await using scene = await open()
  const { set, group } = scene
  assert.deepEqual((await add(set, group, [eves])).results, [failed(eves)])
  assert.deepEqual((await add(set, group, [eves], false)).results, [failed(eves)])
  assert.deepEqual((await add(set, group, [mias], true)).results, [invited(mias)])
  assert.equal(set.eve.messages.length, 0)
})

test('a person whose invitation the network does not take has failed', async () => {
  await using scene = await open()
  const { set, group } = scene
  set.world.network.fault({ kind: 'ack_error', code: 479, times: 2 })
  assert.deepEqual((await add(set, group, [eves], true)).results, [failed(eves)])
  assert.equal(set.eve.messages.length, 0)
})

test('invitations count in the limit of messages a minute, and never wait for it', async () => {
  await using scene = await open({ environment: { SERVICE_OUTGOING_RATE_LIMIT: '1' } })
  const { set, group, mia } = scene
  assert.deepEqual((await add(set, group, [eves, mias], true)).results, [invited(eves), failed(mias)])
  await set.eve.messages.waitFor('the invitation', () => true)
  assert.equal(mia.messages.length, 0)
})

test('a restricted account invites only people who wrote to it', async () => {
  await using scene = await open()
  const { set, group, mia } = scene
  const { world, eve } = set
  await world.arrived(mia.text(world.phone, 'hi'))
  world.phone.user.restrictedUntil = Date.now() + 3_600_000
  world.network.fault({ kind: 'ack_error', code: 463, times: 2 })
  assert.deepEqual((await add(set, group, [eves], true)).results, [failed(eves)])
  const strikes = 'service_lifecycle_events_total{instance="n0",event="strike",owner_tag=""}'
  assert.equal(await world.metric(strikes), 1)
  assert.deepEqual((await add(set, group, [eves, mias], true)).results, [failed(eves), invited(mias)])
  await mia.messages.waitFor('the invitation', () => true)
  assert.equal(eve.messages.length, 0)
})

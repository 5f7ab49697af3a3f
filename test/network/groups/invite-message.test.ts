// The message with which the account invites a person to a group.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOfMessage, unwrap } from '../../../sim/network/people/received-message.ts'
import { child } from '../../../sim/network/wire/stanza.ts'
import { timerOf, week } from '../../harness/timers.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { Bed } from '../harness/bed.ts'
import { scene } from './harness.ts'

test('a person who can only be invited gets the invitation and enters the group with it', async () => {
  await using bed = await Bed.open()
  const { phone, bob, session, groups } = await scene(bed)
  bob.user.refusesGroups = true
  const group = bed.sim.group('Team', phone, [])
  const [result] = await groups.changeMembers(group.id, 'add', [bob.user.pnJid])
  assert.ok(result?.invitation)
  const invite = { type: 'group_invite', groupId: group.id, subject: 'Team', text: 'Come in' } as const
  await session.send(bob.user.pnJid, { ...invite, ...result.invitation }, '3EB01')
  const received = await bob.messages.waitFor('the invitation', (one) => one.id === '3EB01')
  const { groupInviteMessage } = unwrap(received.message)
  assert.equal(textOfMessage(received.message), 'Come in')
  assert.equal(groupInviteMessage?.groupJid, group.jid)
  assert.equal(groupInviteMessage.groupName, 'Team')
  assert.equal(Number(groupInviteMessage.inviteExpiration), group.admission.invitationOf(bob.user)?.expiration)
  assert.equal(received.stanza.attrs['type'], 'media')
  assert.equal(child(received.stanza, 'enc')?.attrs['mediatype'], 'url')
  assert.ok(child(received.stanza, 'reporting'))
  group.accept(bob.user, groupInviteMessage.inviteCode ?? '')
  assert.equal(group.roles.get(bob.user), 'member')
})

test('an invitation in a chat with disappearing messages disappears too', async () => {
  await using bed = await Bed.open()
  const { phone, bob, session } = await scene(bed)
  const { id } = bob.setTimer(phone, week)
  await waitUntil('the timer is stored', async () => (await bed.store.idsOf('s', 'chat-timer')).length > 0)
  await bed.event(id)
  const expiresAt = Date.now() + 1000
  const content = { type: 'group_invite', groupId: '1', subject: 'Team', code: 'x', expiresAt, text: '' } as const
  await session.send(bob.user.pnJid, content, '3EB01')
  assert.equal(timerOf(await bob.messages.waitFor('the invitation', (one) => one.id === '3EB01')), week)
})

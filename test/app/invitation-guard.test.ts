// The limits of invitations to groups.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createInvitationGuard } from '../../src/app/groups/invitation-guard.ts'
import { SendRefusal } from '../../src/bridge/outbound/compose/send-refusal.ts'
import type { GroupSession } from '../../src/bridge/groups/group-session.ts'

const who = { instance: 'shop', ownerTag: '', actor: 'api' } as const
const eve = '5511888880002@s.whatsapp.net'

/** A guard over an account whose minute is full or not, and what it asked about people. */
function guardOf({ isFull = false, isUnknown = false } = {}) {
  const asked: string[] = []
  const guard = createInvitationGuard({
    recipients: {
      refOf: () => {
        asked.push('storage')
        return Promise.resolve({ chatId: 'p1', jid: eve, isGroup: false })
      },
      hasWritten: () => Promise.resolve(false),
      addressOf: () => {
        asked.push('network')
        if (isUnknown) return Promise.reject(new SendRefusal('the number is not on WhatsApp'))
        return Promise.resolve({ jid: eve, chatId: 'p1', isFirst: true })
      },
    },
    restrictions: { stopOf: () => undefined, record: () => Promise.resolve('not_restricted') },
    pace: {
      isExhausted: () => isFull,
      tryAcquire: () => (isFull ? undefined : { giveBack: () => undefined }),
    },
    metrics: { acknowledged: () => undefined, lost: () => undefined, strike: () => undefined },
  })
  return { admit: () => guard.admit(who, eve, {} as GroupSession), asked }
}

test('a person is looked up for an invitation', async () => {
  const { admit, asked } = guardOf()
  assert.equal((await admit())?.address, eve)
  assert.deepEqual(asked, ['storage', 'network'])
})

test('when the minute has no room for a message, neither storage nor the network is asked about the person', async () => {
  const { admit, asked } = guardOf({ isFull: true })
  assert.equal(await admit(), null)
  assert.deepEqual(asked, [])
})

test('a person who is not on WhatsApp gets no invitation', async () => {
  assert.equal(await guardOf({ isUnknown: true }).admit(), null)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MemberResult } from '../../core/group-administration.ts'
import type { Jid } from '../../core/ids.ts'
import { SendError } from '../../core/network.ts'
import { serviceSettings } from '../../../test/harness/service-settings.ts'
import { RecordedLog } from '../../../test/harness/logs.ts'
import { GroupInvitations } from './group-invitations.ts'
import type { GroupSession } from './group-session.ts'

const place = { who: { instance: 'shop', ownerTag: '', actor: 'api' }, groupId: '120363000000000001' } as const
const people = ['1', '2', '3'].map((digit): Jid => `551188888000${digit}@s.whatsapp.net`)

function results(): MemberResult[] {
  return people.map((address) => ({ address, code: '403', invitation: { code: 'abc', expiresAt: 1 } }))
}

/** Invitations over a network that takes a message, or fails as `failureOf` says. */
function invitationsOver(failureOf: (to: Jid) => Error | undefined) {
  const sent: Jid[] = []
  const line = { isReady: true }
  const logs = new RecordedLog()
  const send = (to: Jid) => {
    sent.push(to)
    const failure = failureOf(to)
    return failure ? Promise.reject(failure) : Promise.resolve({ at: null })
  }
  const session: Partial<GroupSession> = { send, newMessageId: () => '3EB0' }
  const invitations = new GroupInvitations({
    sessionOf: () => (line.isReady ? (session as GroupSession) : undefined),
    directory: { find: () => Promise.resolve(null) },
    guard: {
      admit: (_, address) =>
        Promise.resolve({ address, isFirst: true, sent: () => undefined, failed: () => Promise.resolve() }),
    },
    settingsOf: serviceSettings,
    log: logs.log,
  })
  const invite = async () => (await invitations.invite(place, results())).map(({ status }) => status)
  return { invite, sent, line, logs }
}

test('a refused invitation does not keep the other people from theirs, and the log has one line for all refusals', async () => {
  const refused = new SendError('refused', 'no', { code: 479 })
  const { invite, sent, logs } = invitationsOver((to) => (to === people[1] ? undefined : refused))
  assert.deepEqual(await invite(), ['failed', 'invited', 'failed'])
  assert.deepEqual(sent, people)
  const [line, ...others] = logs.withMessage('invitations to a group were not sent')
  assert.deepEqual([line?.['failed'], others], [2, []])
})

test('no further invitation is tried when one has no answer, or when the account is not ready any more', async () => {
  const unanswered = invitationsOver(() => new SendError('unknown', 'no answer'))
  assert.deepEqual(await unanswered.invite(), ['failed', 'failed', 'failed'])
  assert.equal(unanswered.sent.length, 1)
  const gone = invitationsOver(() => {
    gone.line.isReady = false
    return new SendError('not_sent', 'the connection ended')
  })
  assert.deepEqual(await gone.invite(), ['failed', 'failed', 'failed'])
  assert.equal(gone.sent.length, 1)
  assert.equal(gone.logs.withMessage('invitations to a group were not sent').length, 1)
})

// The answer to an agent who asks for the members of a group, when the helpdesk does not take it at once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemberNotes } from '../../../src/bridge/groups/member-notes.ts'
import type { GroupSession } from '../../../src/bridge/groups/group-session.ts'
import { DownstreamError } from '../../../src/core/downstream.ts'
import type { DownstreamFailure } from '../../../src/core/downstream.ts'
import type { GroupMember } from '../../../src/core/group-administration.ts'
import { RecordedLog } from '../../harness/logs.ts'
import { serviceSettings } from '../../harness/service-settings.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { ScriptedHelpdesk } from '../harness/scripted-helpdesk.ts'

const destination = { key: 'here', baseUrl: 'https://desk.example', accountId: 1, inboxId: 1, apiToken: 'token' }
const member: GroupMember = { phone: '5511888880001', lid: null, name: null, redactedPhone: null, role: 'member' }

async function bed(details: () => Promise<unknown> = () => Promise.resolve({ members: [member] })) {
  const helpdesk = new ScriptedHelpdesk()
  const clock = new ManualClock()
  const logs = new RecordedLog()
  const { id: conversationId } = await helpdesk.openConversation('here', 'group-1')
  const notes = new MemberNotes({
    sessionOf: () => ({ groups: { details } }) as unknown as GroupSession,
    people: { lookUpAll: () => Promise.resolve(() => undefined) },
    helpdeskOf: (each) => helpdesk.helpdesk(each),
    limits: helpdesk.limits,
    settingsOf: serviceSettings,
    clock,
    log: logs.log,
  })
  const ask = () => {
    notes.asked({ instance: 'shop', groupId: '1', destination, conversationId, noteId: helpdesk.newId() })
  }
  const warned = () => logs.withMessage('the members of a group could not be listed for an agent').length === 1
  const end = () => notes[Symbol.asyncDispose]()
  return { helpdesk, clock, ask, warned, end, [Symbol.asyncDispose]: end }
}

test('a note whose answer was lost is looked for before it is posted again', async () => {
  await using set = await bed()
  const { helpdesk, clock, ask } = set
  helpdesk.afterPost = () => {
    throw new DownstreamError('transient', 'the answer is lost', { mayHaveHappened: true })
  }
  ask()
  await waitUntil('the note is posted', () => helpdesk.messages.length === 1)
  await waitUntil('the next attempt has looked for it', async () => {
    await clock.advance(1000)
    return helpdesk.calls.filter((call) => call === 'findPosted').length === 2
  })
  await set.end()
  assert.equal(helpdesk.messages.length, 1)
  const [{ type, private: isPrivate, content } = {}] = helpdesk.messages
  assert.deepEqual([type, isPrivate, content], ['outgoing', true, 'Members of this group: 1\n\n- `+5511888880001`'])
})

test('a helpdesk that fails for a while gets the note later, and not before a lost request can be done', async () => {
  await using set = await bed()
  const { helpdesk, clock, ask } = set
  const at: number[] = []
  helpdesk.script = (call) => {
    if (call === 'findPosted') at.push(clock.now())
    if (at.length < 3) throw new DownstreamError('transient', 'busy')
  }
  ask()
  await waitUntil('the note is posted', async () => {
    await clock.advance(5000)
    return helpdesk.messages.length === 1
  })
  const [first = 0, second = 0] = at
  assert.ok(second - first >= helpdesk.limits.lateCommitMs, at.join())
})

test('a note that the helpdesk will never take is given up, and the log says so', async () => {
  for (const failure of ['permanent', 'gone'] satisfies DownstreamFailure[]) {
    await using set = await bed()
    const { helpdesk, ask, warned } = set
    helpdesk.script = () => {
      throw new DownstreamError(failure, 'no')
    }
    ask()
    await waitUntil('the log says so', warned)
    assert.equal(helpdesk.calls.length, 1)
  }
})

test('a failure that is no answer of the network is logged, and nothing is posted', async () => {
  await using set = await bed(() => Promise.reject(new TypeError('a bug')))
  const { helpdesk, ask, warned } = set
  ask()
  await waitUntil('the log says so', warned)
  assert.deepEqual(helpdesk.messages, [])
})

test('a stop ends the wait for the next attempt', async () => {
  await using set = await bed()
  const { helpdesk, ask } = set
  helpdesk.script = () => {
    throw new DownstreamError('transient', 'busy')
  }
  ask()
  await waitUntil('the first attempt is made', () => helpdesk.calls.length === 1)
  await set.end()
  assert.equal(helpdesk.calls.length, 1)
})

test('a stop does not wait for the answer of the network', async () => {
  const asked = Promise.withResolvers<undefined>()
  await using set = await bed(() => {
    asked.resolve(undefined)
    return new Promise(() => undefined)
  })
  const { helpdesk, ask, warned } = set
  ask()
  await asked.promise
  await set.end()
  assert.ok(warned())
  assert.deepEqual(helpdesk.messages, [])
})

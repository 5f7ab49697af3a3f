import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import type { NetworkSession } from '../../core/network.ts'
import { GroupDirectory } from './group-directory.ts'

const group = '120363000000000001'

/** A network that answers with the subject, or not at all while the subject is null. */
function directory() {
  const network = { subject: 'Team' as string | null, asked: 0 }
  const groupInfo = () => {
    network.asked++
    if (network.subject === null) return Promise.reject(new Error('no answer'))
    return Promise.resolve({ id: group, subject: network.subject, members: [] })
  }
  const session: Partial<NetworkSession> = { groupInfo }
  const clock = new ManualClock()
  const groups = new GroupDirectory({ sessionOf: () => session as NetworkSession, clock, log: silentLog })
  const subjectOf = async (instance: string) => (await groups.find(instance, group))?.subject
  return { network, clock, groups, subjectOf }
}

test('the network is asked once an hour', async () => {
  const { network, clock, subjectOf } = directory()
  assert.deepEqual([await subjectOf('a'), await subjectOf('a')], ['Team', 'Team'])
  assert.equal(network.asked, 1)
  network.subject = 'Crew'
  await clock.advance(3_600_001)
  assert.equal(await subjectOf('a'), 'Crew')
})

test('after a failure the network is asked again a minute later', async () => {
  const { network, clock, subjectOf } = directory()
  network.subject = null
  assert.equal(await subjectOf('a'), undefined)
  network.subject = 'Team'
  assert.equal(await subjectOf('a'), undefined)
  assert.equal(network.asked, 1)
  await clock.advance(60_001)
  assert.equal(await subjectOf('a'), 'Team')
})

test('when an instance leaves, its answers and its failures are forgotten, and those of others are kept', async () => {
  const { network, groups, subjectOf } = directory()
  await subjectOf('a')
  await subjectOf('ab')
  network.subject = 'Crew'
  groups.leave('a')
  assert.deepEqual([await subjectOf('a'), await subjectOf('ab')], ['Crew', 'Team'])
  network.subject = null
  await subjectOf('b')
  await subjectOf('bc')
  network.subject = 'Crew'
  groups.leave('b')
  assert.deepEqual([await subjectOf('b'), await subjectOf('bc')], ['Crew', undefined])
})

test('a group that changed is asked for again, also after a failure', async () => {
  const { network, groups, subjectOf } = directory()
  await subjectOf('a')
  network.subject = null
  groups.forget('a', group)
  assert.equal(await subjectOf('a'), undefined)
  network.subject = 'Crew'
  groups.forget('a', group)
  assert.equal(await subjectOf('a'), 'Crew')
})

test('an answer that comes after a change is not kept, and no later caller gets it', async () => {
  const answers: ((subject: string) => void)[] = []
  const groupInfo = (id: string) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    answers.push(resolve)
    return promise.then((subject) => ({ id, subject, members: [] }))
  }
  const session: Partial<NetworkSession> = { groupInfo }
  const clock = new ManualClock()
  const groups = new GroupDirectory({ sessionOf: () => session as NetworkSession, clock, log: silentLog })
  const before = groups.find('a', group)
  groups.forget('a', group)
  const after = groups.find('a', group)
  const other = groups.find('a', group)
  answers[1]?.('New')
  answers[0]?.('Old')
  assert.deepEqual([(await before)?.subject, (await after)?.subject, (await other)?.subject], ['Old', 'New', 'New'])
  assert.equal((await groups.find('a', group))?.subject, 'New')
  assert.equal(answers.length, 2)
})

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

// A request whose row could not be taken back yet: the repeat takes the row back first, and is then a new request.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PlannedLooks } from '../../../src/bridge/outbound/queue/planned-looks.ts'
import { RequestAnswers } from '../../../src/bridge/outbound/direct/request-answers.ts'
import { UndecidedRows } from '../../../src/bridge/outbound/accept/undecided-rows.ts'
import { Fingerprints } from '../../../src/guard/fingerprints.ts'
import { newDatabase } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { sampleOutboxRow } from '../../harness/samples.ts'
import { openStores } from '../../storage/harness/all-stores.ts'

test('the row of a request that was answered with a failure is taken back before the request is repeated', async () => {
  await using opened = await newDatabase('sqlite')
  const { outbox, requests, transitions } = await openStores(opened.database)
  const clock = new ManualClock()
  const looks = new PlannedLooks({ clock, wake: () => undefined })
  let isAway = true
  const withdraw: typeof transitions.withdraw = (...row) =>
    isAway ? Promise.reject(new Error('the database is away')) : transitions.withdraw(...row)
  const undecided = new UndecidedRows({
    ...{ outbox, looks, clock, log: silentLog },
    transitions: { withdraw },
    queue: () => Promise.resolve(),
  })
  const answers = new RequestAnswers({ requests, outbox, undecided, fingerprints: new Fingerprints([]), clock })
  const key = answers.keyOf('shop', 'a', 'asked')
  const row = sampleOutboxRow('one', { kind: 'direct', conversationId: null, createdAt: clock.now() })
  await outbox.enqueue(row, key)
  assert.equal((await answers.find(key, 'asked'))?.kind, 'queued')

  const stored = Promise.withResolvers<undefined>()
  const storing = undecided.while(row.id, () => stored.promise)
  assert.deepEqual(await answers.find(key, 'asked'), { kind: 'late' }, 'it may still be taken back')
  stored.resolve(undefined)
  await storing
  await undecided.refuse(row)
  await assert.rejects(answers.find(key, 'asked'), /the database is away/)
  isAway = false
  assert.equal(await answers.find(key, 'asked'), undefined)
  assert.equal((await outbox.find('one'))?.status, 'refused')
  assert.equal(await outbox.enqueue({ ...row, id: 'two' }, key), 'accepted')
})

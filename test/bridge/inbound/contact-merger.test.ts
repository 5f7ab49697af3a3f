import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContactJoin } from '../../../src/bridge/conversations/contact-join.ts'
import { ContactMerger } from '../../../src/bridge/conversations/contact-merger.ts'
import { personSpec } from '../../../src/bridge/conversations/contact-spec.ts'
import { MergeGate } from '../../../src/bridge/conversations/merge-gate.ts'
import { DownstreamError } from '../../../src/core/downstream.ts'
import type { HelpdeskInbox } from '../../../src/core/downstream.ts'
import type { Contact } from '../../../src/core/helpdesk/contact.ts'
import { ContactStore } from '../../../src/storage/stores/people/contact-store.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { newDatabase } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { desk } from './harness/bridge-bed.ts'
import { holdOf, holds } from '../../harness/holds.ts'

test('a merge whose answer was lost is noted the next time, and not asked for again', async () => {
  await using opened = await newDatabase('sqlite')
  await new LeaseStore(opened.database).acquire('me', 60_000)
  const store = new ContactStore(opened.database)
  for (const [contactId, sourceId] of [
    [1, '5511988887777'],
    [2, 'lid-99'],
  ] as const) {
    await store.saveContact(holdOf('a'), desk.key, { sourceId, contactId, ours: true, name: 'Maria' })
  }
  let merges = 0
  const helpdesk = {
    ensureContact: ({ sourceId }: { sourceId: string }): Promise<Contact> => {
      const id = sourceId === 'lid-99' && merges === 0 ? 2 : 1
      return Promise.resolve({ id, sourceId, name: 'Maria', created: false, elsewhere: false } as Contact)
    },
    mergeContacts: () => {
      merges++
      return Promise.reject(new DownstreamError('transient', 'the answer was lost', { mayHaveHappened: true }))
    },
    describeContact: () => Promise.reject(new DownstreamError('transient', 'no answer')),
  } as unknown as HelpdeskInbox
  const deps = { store, ...holds, log: silentLog, clock: new ManualClock(), lateCommitMs: 0 }
  const merger = new ContactMerger({ ...deps, join: new ContactJoin({ ...deps, gate: new MergeGate() }) })
  const spec = personSpec({
    id: 'p',
    phone: '5511988887777',
    lid: '99',
    pushName: 'Maria',
    savedName: null,
    formerPhones: [],
  })
  await assert.rejects(merger.merge(spec, { lid: '99', phones: [] }, { instance: 'shop', destination: desk, helpdesk }))
  await merger.merge(spec, { lid: '99', phones: [] }, { instance: 'shop', destination: desk, helpdesk })
  const known = await store.findContacts(desk.key, ['5511988887777', 'lid-99'])
  assert.deepEqual(
    known.map(({ contactId }) => contactId),
    [1, 1],
  )
  assert.equal(merges, 1)
})

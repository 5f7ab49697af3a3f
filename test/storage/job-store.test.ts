import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import { noContactsProgress } from '../../src/core/jobs/contacts-jobs.ts'
import { noImportProgress } from '../../src/core/jobs/history-jobs.ts'
import type { Job } from '../../src/core/jobs/job.ts'
import type { ImportResult } from '../../src/core/jobs/history-jobs.ts'
import type { Database } from '../../src/storage/database.ts'
import { InstanceStore } from '../../src/storage/stores/accounts/instance-store.ts'
import { JobStore } from '../../src/storage/stores/jobs/job-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { AuditStore } from '../../src/storage/stores/ledger/audit-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleAudit, sampleInstance } from '../harness/samples.ts'
import { sampleJob } from './harness/job-calls.ts'
import { holdOf, holds, nodeHold } from '../harness/holds.ts'

const result: ImportResult = {
  ...{ chats: 3, scanned: 3, imported: 1, skipped: 1, noAnchor: 1, errors: 0, posted: 4 },
  ...{ messagesSeen: 9, messagesKept: 5, messagesSkipped: 1, messageErrors: 0, oldestAt: 100, newestAt: 200 },
}
const progress = { ...noImportProgress, done: 3, total: 3, posted: 4 }
const completed = { status: 'completed', endedAt: 3000, progress, error: null, result } as const

async function openStore(database: Database): Promise<JobStore> {
  assert.equal(await new LeaseStore(database).acquire('test', 60_000), 1)
  return new JobStore(database, holds.holdOf, holds.nodeHold)
}

for (const engine of engines) {
  describe(`jobs on ${engine}`, () => {
    test('are stored, begin once and end once', async () => {
      await using opened = await newDatabase(engine)
      const jobs = await openStore(opened.database)
      const job = sampleJob('a', { params: { ...sampleJob('a').params, chat: ['1@lid'] } })
      await jobs.create(job)
      assert.deepEqual(await jobs.find('a'), job)
      assert.equal(await jobs.begin({ id: 'a', instance: 'shop' }, 2000), true)
      assert.equal(await jobs.begin({ id: 'a', instance: 'shop' }, 2500), true)
      assert.deepEqual(await jobs.find('a'), { ...job, status: 'running', startedAt: 2000 })
      assert.equal(await jobs.end({ id: 'a', instance: 'shop' }, completed), true)
      assert.equal(
        await jobs.end({ id: 'a', instance: 'shop' }, { ...completed, status: 'cancelled', endedAt: 4000 }),
        false,
      )
      assert.equal(await jobs.begin({ id: 'a', instance: 'shop' }, 5000), false)
      assert.deepEqual(await jobs.find('a'), { ...job, startedAt: 2000, ...completed })
      assert.equal(await jobs.find('b'), undefined)
    })

    test('are listed newest first, and those that have not ended oldest first', async () => {
      await using opened = await newDatabase(engine)
      const jobs = await openStore(opened.database)
      for (const id of ['2', '1', '4', '3']) await jobs.create(sampleJob(id))
      await jobs.create(sampleJob('5', { instance: 'other' }))
      await jobs.end({ id: '2', instance: 'shop' }, completed)
      await jobs.begin({ id: '3', instance: 'shop' }, 2000)
      const ids = (found: { id: string }[]) => found.map(({ id }) => id).join('')
      assert.equal(ids(await jobs.list(10)), '54321')
      assert.equal(ids(await jobs.list(2, 'shop')), '43')
      assert.equal(ids(await jobs.unfinished('shop')), '134')
    })

    test('of a type that a later version added are left to that version', async () => {
      await using opened = await newDatabase(engine)
      const jobs = await openStore(opened.database)
      await jobs.create({ ...sampleJob('a'), type: 'unheard_of' as 'history_all' })
      const found = [await jobs.list(10), await jobs.list(10, 'shop'), await jobs.unfinished('shop')]
      assert.deepEqual([found.flat(), await jobs.find('a')], [[], undefined])
    })

    test('keep what is special to their type', async () => {
      await using opened = await newDatabase(engine)
      const jobs = await openStore(opened.database)
      const params = { only: 'saved', create: true } as const
      const job: Job = {
        ...sampleJob('a'),
        type: 'contacts_import',
        params,
        progress: noContactsProgress,
        result: null,
      }
      await jobs.create(job)
      assert.deepEqual(await jobs.find('a'), job)
      const counts = { scanned: 2, renamed: 1, created: 0, skipped: 1, errors: 0 }
      const end = { ...completed, progress: { ...noContactsProgress, done: 2, total: 2 }, result: counts }
      await jobs.end({ id: 'a', instance: 'shop' }, end)
      assert.deepEqual(await jobs.find('a'), { ...job, ...end })
    })

    test('change only for the owner of the accounts, each change with its audit entries', async () => {
      await using opened = await newDatabase(engine)
      const jobs = await openStore(opened.database)
      const stale = new JobStore(
        opened.database,
        (instance) => holdOf(instance, 2),
        () => nodeHold(2),
      )
      await assert.rejects(stale.create(sampleJob('a')))
      await jobs.create(sampleJob('a'), [sampleAudit({ action: 'history.import', instance: 'shop' })])
      await assert.rejects(stale.begin({ id: 'a', instance: 'shop' }, 2000), NotHeldError)
      await assert.rejects(stale.end({ id: 'a', instance: 'shop' }, completed), NotHeldError)
      assert.equal((await jobs.find('a'))?.status, 'pending')
      await jobs.end({ id: 'a', instance: 'shop' }, completed, [
        sampleAudit({ action: 'job.cancel', instance: 'shop' }),
      ])
      await jobs.end({ id: 'a', instance: 'shop' }, completed, [
        sampleAudit({ action: 'job.cancel', instance: 'shop' }),
      ])
      const entries = await new AuditStore(opened.database).list({ instance: 'shop', limit: 10 })
      assert.deepEqual(
        entries.map(({ action }) => action),
        ['job.cancel', 'history.import'],
      )
    })

    test('that ended before a time are removed with their chats', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      const jobs = await openStore(database)
      for (const id of ['old', 'new', 'open']) await addWithChat(database, jobs, id)
      await jobs.end({ id: 'old', instance: 'shop' }, { ...completed, endedAt: 1000 })
      await jobs.end({ id: 'new', instance: 'shop' }, { ...completed, endedAt: 2000 })
      await jobs.prune(2000)
      assert.deepEqual(await remaining(database), ['new', 'open'])
      assert.equal(await jobs.find('old'), undefined)
    })

    test('are removed with the record of their instance', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      const jobs = await openStore(database)
      const instances = new InstanceStore(database)
      await instances.insert(holdOf('shop'), sampleInstance('shop'), sampleAudit())
      await addWithChat(database, jobs, 'a')
      await jobs.create(sampleJob('b', { instance: 'other' }))
      await instances.remove(holdOf('shop'), null, sampleAudit())
      assert.deepEqual(await remaining(database), [])
      assert.deepEqual(
        (await jobs.list(10)).map(({ id }) => id),
        ['b'],
      )
    })
  })
}

async function addWithChat(database: Database, jobs: JobStore, id: string): Promise<void> {
  await jobs.create(sampleJob(id))
  const chat = { job_id: id, chat: 'chat', jids: '[]', state: 'waiting' } as const
  await database.write(database.query.insertInto('import_chats').values(chat))
}

/** The jobs that have chats. */
async function remaining(database: Database): Promise<string[]> {
  const rows = await database.read(database.query.selectFrom('import_chats').select('job_id').orderBy('job_id'))
  return rows.map((row) => row.job_id)
}

// Callbacks at a process that runs alone on PostgreSQL, for an instance that it has not taken yet.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutPostgres } from '../../harness/databases.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'
import { Service } from '../../harness/service.ts'
import { waitUntil } from '../../harness/wait-until.ts'

test('an instance that exists is not refused as an unknown one', { skip: withoutPostgres }, async () => {
  await using service = await Service.start({ engine: 'postgres' })
  const { database, logs } = service
  // A part reads this table while it takes an instance.
  await database.write({ sql: 'ALTER TABLE restrictions RENAME TO restrictions_away', parameters: [] })
  await database.write(
    database.query.insertInto('instances').values(sampleInstanceColumns('late')),
    database.query.insertInto('assignments').values({ instance: 'late', node: null, epoch: 0, since: 0 }),
  )
  const failures = () => logs.withMessage('a change of the owner failed here').length
  await waitUntil('the take has failed', () => failures() > 0)
  const post = (name: string) =>
    service.request('POST', `/api/instances/${name}/webhook`, { body: { event: 'webwidget_triggered' } })
  assert.equal((await post('late')).status, 200)
  assert.equal((await post('unknown')).status, 404)
})

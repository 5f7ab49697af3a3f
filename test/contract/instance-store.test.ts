import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { InstanceStore } from '../../src/storage/instance-store.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleInstance } from '../harness/samples.ts'

for (const engine of engines) {
  describe(`instance store on ${engine}`, () => {
    test('instances are listed by name as they were inserted', async () => {
      await using opened = await newDatabase(engine)
      const instances = new InstanceStore(opened.database)
      const rows = [sampleInstance('b', { jid: '1@s.whatsapp.net', paired_at: 5 }), sampleInstance('a')]
      for (const row of rows) await instances.insert(row)
      assert.deepEqual(
        (await instances.list()).map((row) => ({ ...row })),
        rows.toReversed(),
      )
    })

    test('a name exists once', async () => {
      await using opened = await newDatabase(engine)
      const instances = new InstanceStore(opened.database)
      await instances.insert(sampleInstance('a'))
      await assert.rejects(instances.insert(sampleInstance('a')), { name: 'StorageError', failure: 'constraint' })
    })
  })
}

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Compilable } from 'kysely'
import { sql } from 'kysely'
import { AuditStore } from '../../src/storage/stores/ledger/audit-store.ts'
import type { Database } from '../../src/storage/database.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { sampleAudit } from '../harness/samples.ts'

for (const engine of engines) {
  describe(`audit store on ${engine}`, () => {
    test('entries come back newest first with everything that was recorded', async () => {
      await using opened = await newDatabase(engine)
      const audit = new AuditStore(opened.database)
      await audit.append(sampleAudit({ at: 1, action: 'backend.boot', actor: 'system' }))
      await audit.append(
        sampleAudit({ at: 2, action: 'tenant.patch', target: 'acme', ownerTag: 'acme', metadata: { fields: ['a'] } }),
      )
      assert.deepEqual(await audit.list({ limit: 10 }), [
        {
          id: 2,
          at: 2,
          actor: 'api',
          action: 'tenant.patch',
          instance: '',
          ownerTag: 'acme',
          target: 'acme',
          metadata: { fields: ['a'] },
        },
        { id: 1, at: 1, actor: 'system', action: 'backend.boot', instance: '', ownerTag: '', target: '', metadata: {} },
      ])
    })

    test('filters combine and the limit cuts', async () => {
      await using opened = await newDatabase(engine)
      const audit = new AuditStore(opened.database)
      for (const instance of ['a', 'b']) {
        for (const ownerTag of ['x', 'y', 'y']) await audit.append(sampleAudit({ instance, ownerTag }))
      }
      assert.equal((await audit.list({ limit: 4 })).length, 4)
      assert.equal((await audit.list({ limit: 10, instance: 'a' })).length, 3)
      assert.equal((await audit.list({ limit: 10, ownerTag: 'y' })).length, 4)
      assert.equal((await audit.list({ limit: 10, instance: 'b', ownerTag: 'y' })).length, 2)
      assert.deepEqual(await audit.list({ limit: 10, instance: 'c' }), [])
    })

    for (const change of forbiddenChanges(engine)) {
      test(`${change} is refused and the entry stays as it was`, async () => {
        await using opened = await newDatabase(engine)
        const audit = new AuditStore(opened.database)
        await audit.append(sampleAudit())
        const before = await audit.list({ limit: 10 })
        await assert.rejects(opened.database.write(raw(opened.database, change)), /append-only|generated always/i)
        assert.deepEqual(await audit.list({ limit: 10 }), before)
      })
    }
  })
}

function forbiddenChanges(engine: string): string[] {
  const everywhere = [`UPDATE audit SET actor = 'nobody'`, 'DELETE FROM audit']
  const replace = `INSERT OR REPLACE INTO audit (id, ts, actor, action) VALUES (1, 1, 'x', 'y')`
  return [...everywhere, engine === 'postgres' ? 'TRUNCATE audit' : replace]
}

function raw(database: Database, statement: string): Compilable {
  return { compile: () => sql.raw(statement).compile(database.query) }
}

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NotHeldError } from '../../src/core/nodes/hold.ts'
import { AuditStore } from '../../src/storage/stores/ledger/audit-store.ts'
import { InstanceStore } from '../../src/storage/stores/accounts/instance-store.ts'
import { PendingLogoutStore, pendingLogoutInserts } from '../../src/storage/stores/accounts/pending-logout-store.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { engines, newDatabase, withoutPostgres } from '../harness/databases.ts'
import { sampleAudit, sampleInstance } from '../harness/samples.ts'
import { holdOf, nodeHold } from '../harness/holds.ts'
import { joinedAt, NodeStage } from './harness/node-stage.ts'

const networkProxy = 'http://user:secret@proxy:1'
const logout = { sessionId: 's', instance: 'a', ownerTag: 'x', askedAt: 10, networkProxy }

for (const engine of engines) {
  describe(`pending logouts on ${engine}`, () => {
    test('are stored with the record and outlive it', async () => {
      await using opened = await newDatabase(engine)
      assert.equal(await new LeaseStore(opened.database).acquire('test', 60_000), 1)
      const instances = new InstanceStore(opened.database)
      const logouts = new PendingLogoutStore(opened.database)
      await instances.insert(holdOf('a'), sampleInstance('a', { sessionId: 's' }), sampleAudit())
      await instances.update(holdOf('a'), { sessionId: null }, { logouts: [logout] })
      await instances.remove(holdOf('a'), null, sampleAudit())
      assert.deepEqual(await logouts.list(), [logout])
    })

    test('are listed oldest first', async () => {
      await using opened = await newDatabase(engine)
      assert.equal(await new LeaseStore(opened.database).acquire('test', 60_000), 1)
      const instances = new InstanceStore(opened.database)
      await instances.insert(holdOf('a'), sampleInstance('a'), sampleAudit())
      const asked = ['b', 'c', 'a'].map((sessionId, n) => ({ ...logout, sessionId, askedAt: 30 - 10 * n }))
      await instances.update(holdOf('a'), {}, { logouts: asked })
      assert.deepEqual(await new PendingLogoutStore(opened.database).list(), asked.toReversed())
    })

    test('belong to their instance, or to the first node when it was deleted, also when its name is used again', async () => {
      await using opened = await newDatabase(engine)
      assert.equal(await new LeaseStore(opened.database).acquire('test', 60_000), 1)
      const instances = new InstanceStore(opened.database)
      const logouts = new PendingLogoutStore(opened.database)
      const found = async () =>
        (await Promise.all([logouts.listOf('a'), logouts.listOf('b'), logouts.listOfDeleted()])).map((rows) =>
          rows.map(({ sessionId }) => sessionId),
        )
      await instances.insert(holdOf('a'), sampleInstance('a', { createdAt: 5 }), sampleAudit())
      await instances.update(holdOf('a'), {}, { logouts: [logout] })
      assert.deepEqual(await found(), [['s'], [], []])
      await instances.remove(holdOf('a'), null, sampleAudit())
      assert.deepEqual(await found(), [[], [], ['s']])
      await instances.insert(holdOf('a'), sampleInstance('a', { createdAt: 20 }), sampleAudit())
      assert.deepEqual(await found(), [[], [], ['s']])
    })

    test('are claimed before each attempt, and released', async () => {
      await using opened = await newDatabase(engine)
      const { database } = opened
      assert.equal(await new LeaseStore(database).acquire('test', 60_000), 1)
      const instances = new InstanceStore(database)
      const logouts = new PendingLogoutStore(database)
      await instances.insert(holdOf('a'), sampleInstance('a'), sampleAudit())
      assert.equal(await logouts.claim(nodeHold(), 's'), 'done')
      await instances.update(holdOf('a'), {}, { logouts: [logout] })
      assert.equal(await logouts.claim(nodeHold(), 's'), 'claimed')
      assert.equal(await logouts.claim(nodeHold(), 's'), 'claimed', 'for the next attempt')
      await logouts.release(nodeHold(), 's')
      assert.deepEqual(await logouts.list(), [logout])
    })

    test('are removed together with an audit entry, by the owner of the accounts only', async () => {
      await using opened = await newDatabase(engine)
      assert.equal(await new LeaseStore(opened.database).acquire('test', 60_000), 1)
      const instances = new InstanceStore(opened.database)
      const logouts = new PendingLogoutStore(opened.database)
      const audits = new AuditStore(opened.database)
      await instances.insert(holdOf('a'), sampleInstance('a'), sampleAudit())
      await instances.update(holdOf('a'), {}, { logouts: [logout] })
      const told = sampleAudit({ action: 'instance.logout_told', instance: 'a' })
      await assert.rejects(logouts.remove(nodeHold(2), 's', [told]))
      assert.deepEqual(await logouts.list(), [logout])
      await logouts.remove(nodeHold(), 's', [told])
      assert.deepEqual(await logouts.list(), [])
      const [newest] = await audits.list({ instance: 'a', limit: 1 })
      assert.equal(newest?.action, 'instance.logout_told')
    })
  })
}

test('a logout is claimed by one living node at a time', { skip: withoutPostgres }, async () => {
  await using stage = await NodeStage.open('one', 'two')
  const { database } = stage
  const logouts = new PendingLogoutStore(database)
  await database.write(...pendingLogoutInserts(database, [logout]))
  const claim = (node: string) => logouts.claim({ node, epoch: 0 }, 's')
  const claims = await Promise.all([claim('one'), claim('two')])
  assert.deepEqual(claims.sort(), ['claimed', 'elsewhere'])
  const [winner = '', loser = ''] = (await claim('one')) === 'claimed' ? ['one', 'two'] : ['two', 'one']
  await logouts.release({ node: loser, epoch: 0 }, 's')
  assert.equal(await claim(loser), 'elsewhere', 'a node releases only its own claim')
  await logouts.release({ node: winner, epoch: 0 }, 's')
  assert.deepEqual([await claim(loser), await claim(winner)], ['claimed', 'elsewhere'])
  await stage.nodes.bury(await stage.seen(loser), [], joinedAt)
  assert.equal(await claim(winner), 'claimed', 'the claim of a dead node counts no more')
  await assert.rejects(claim(loser), NotHeldError)
})

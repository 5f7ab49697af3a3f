import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SecretBox } from '../../src/lib/secret-box.ts'
import type { Database } from '../../src/storage/database.ts'
import { TenantStore } from '../../src/storage/stores/accounts/tenant-store.ts'
import { noteKeys, refuseUnreadableSecrets, refuseUnreadableValues } from '../../src/storage/stores/key-check.ts'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { NodeStore } from '../../src/storage/stores/nodes/node-store.ts'
import { engines, newDatabase, newLocation, withoutPostgres } from '../harness/databases.ts'
import { openOwnDatabase } from '../harness/lease-holds.ts'
import { sampleAudit, sampleTenant } from '../harness/samples.ts'
import { nodeHold } from '../harness/holds.ts'

const oldKey = Buffer.alloc(32, 1)
const newKey = Buffer.alloc(32, 2)

const idOf = (key: Buffer) => new SecretBox([key]).keyIds[0]

async function takeLease(database: Database): Promise<number> {
  const leases = new LeaseStore(database)
  const epoch = (await leases.acquire('test', 60_000)) ?? assert.fail('the lease is taken')
  await leases.release('test', epoch)
  return epoch
}

/** What a process does with the keys from its start until it serves. */
async function start(database: Database, keys: Buffer[]): Promise<void> {
  await refuseUnreadableSecrets(database, keys)
  await noteKeys(database, nodeHold(await takeLease(database)), keys)
}

async function notedKeys(database: Database): Promise<string[]> {
  const rows = await database.read(database.query.selectFrom('sealing_keys').select('id').orderBy('id'))
  return rows.map(({ id }) => id)
}

for (const engine of engines) {
  describe(`the check of the keys on ${engine}`, () => {
    test('keys rotate: the new one seals, the old one still opens, without it the boot is refused', async () => {
      await using place = await newLocation(engine)
      const withKeys = async (keys: Buffer[], work: (database: Database) => Promise<unknown>) => {
        await using database = await openOwnDatabase(place.location, keys)
        await start(database, keys)
        await work(database)
      }
      const put = (tag: string) => (database: Database) =>
        new TenantStore(database).put(tag, sampleTenant, sampleAudit())
      await withKeys([], put('plain'))
      await withKeys([oldKey], put('old'))
      await withKeys([newKey, oldKey], async (database) => {
        await put('new')(database)
        for (const tag of ['plain', 'old', 'new']) {
          assert.equal((await new TenantStore(database).findWithSecrets(tag))?.apiToken, sampleTenant.apiToken)
        }
      })
      await assert.rejects(
        withKeys([newKey], () => Promise.resolve()),
        /SERVICE_ENCRYPTION_KEY does not open .* tenants/,
      )
      await assert.rejects(
        withKeys([], () => Promise.resolve()),
        /SERVICE_ENCRYPTION_KEY/,
      )
    })

    test('a start looks through the stored values only when a key that sealed values is missing', async () => {
      await using opened = await newDatabase(engine, [oldKey])
      const { database } = opened
      await new TenantStore(database).put('acme', sampleTenant, sampleAudit())
      await start(database, [oldKey])
      await assert.rejects(start(database, [newKey]), /SERVICE_ENCRYPTION_KEY/)
      await start(database, [newKey, oldKey])
      await new TenantStore(database).remove('acme', sampleAudit())
      await start(database, [newKey])
      assert.deepEqual(await notedKeys(database), [idOf(newKey)])
      // Only a look through the values would find this one.
      const broken = { session_id: 's', kind: 'k', key_id: 'i', value: { seal: Buffer.of(1), place: 'elsewhere' } }
      await database.write(database.query.insertInto('session_keys').values(broken))
      await start(database, [newKey])
    })

    test('a first start in the middle of a key rotation notes both keys', async () => {
      await using opened = await newDatabase(engine, [oldKey])
      const { database } = opened
      await new TenantStore(database).put('acme', sampleTenant, sampleAudit())
      await start(database, [newKey, oldKey])
      await assert.rejects(start(database, [newKey]), /SERVICE_ENCRYPTION_KEY does not open .* tenants/)
    })

    test('the check of the keys writes nothing', async () => {
      await using opened = await newDatabase(engine, [oldKey])
      const { database } = opened
      await refuseUnreadableSecrets(database, [oldKey])
      assert.deepEqual(await notedKeys(database), [])
      await start(database, [oldKey])
      await refuseUnreadableSecrets(database, [newKey])
      assert.deepEqual(await notedKeys(database), [idOf(oldKey)])
    })

    test('a standby that lacks the key of the owner does not take over what the owner sealed meanwhile', async () => {
      await using opened = await newDatabase(engine, [oldKey])
      const { database } = opened
      await start(database, [oldKey])
      await refuseUnreadableSecrets(database, [newKey])
      await new TenantStore(database).put('acme', sampleTenant, sampleAudit())
      const epoch = await takeLease(database)
      await assert.rejects(
        noteKeys(database, nodeHold(epoch), [newKey]),
        /SERVICE_ENCRYPTION_KEY does not open .* tenants/,
      )
      assert.deepEqual(await notedKeys(database), [idOf(oldKey)])
    })

    test('a process that lost the lease notes no keys', async () => {
      await using opened = await newDatabase(engine, [oldKey])
      const { database } = opened
      const epoch = await takeLease(database)
      await assert.rejects(noteKeys(database, nodeHold(epoch + 1), [oldKey]), { failure: 'expectation' })
      assert.deepEqual(await notedKeys(database), [])
    })

    test('a note that is written a second time changes nothing', async () => {
      await using owned = await newDatabase(engine)
      const { database } = owned
      const epoch = await takeLease(database)
      // Both read that no key is noted, and both write the note.
      await Promise.all([noteKeys(database, nodeHold(epoch), [oldKey]), noteKeys(database, nodeHold(epoch), [oldKey])])
      assert.deepEqual(await notedKeys(database), [idOf(oldKey)])
    })

    test('a stored value that is cut short or of an unknown kind stops the boot', async () => {
      await using opened = await newDatabase(engine, [oldKey])
      const { database } = opened
      const store = (bytes: Buffer) =>
        database.write(
          { sql: 'DELETE FROM session_keys', parameters: [] },
          {
            sql: `INSERT INTO session_keys VALUES ('s', 'k', 'i', ${engine === 'sqlite' ? '?' : '$1'})`,
            parameters: [bytes],
          },
        )
      const sealed = Buffer.from(new SecretBox([oldKey]).seal(Buffer.from('x'), 'p'))
      const check = () => refuseUnreadableValues(database, new SecretBox([oldKey]))
      for (const bytes of [sealed, Buffer.of(0), Buffer.from('\0plain')]) {
        await store(bytes)
        await check()
      }
      for (const bytes of [
        sealed.subarray(0, 32),
        sealed.subarray(0, 3),
        Buffer.of(),
        Buffer.of(2, 1, 2),
        Buffer.of(1),
      ]) {
        await store(bytes)
        await assert.rejects(check(), /session_keys\.value is damaged/, bytes.toString('hex'))
      }
    })
  })
}

test(
  'a node forgets a key that it does not have only when no other node lives',
  { skip: withoutPostgres },
  async () => {
    await using opened = await newDatabase('postgres')
    const { database } = opened
    const nodes = new NodeStore(database)
    const other = { id: 'other', name: 'other', address: 'http://other', ...{ build: '1', protocol: 1 } }
    await nodes.join({ ...other, settingsHash: '', capacity: 100 }, 1)
    await start(database, [oldKey])
    await start(database, [newKey])
    assert.deepEqual(await notedKeys(database), [idOf(oldKey), idOf(newKey)].sort())
    await nodes.end('other', 2)
    await start(database, [newKey])
    assert.deepEqual(await notedKeys(database), [idOf(newKey)])
  },
)

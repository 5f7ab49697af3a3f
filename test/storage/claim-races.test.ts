// On PostgreSQL a row can disappear between two statements of a transaction: another process merges people or removes old messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { LeaseStore } from '../../src/storage/stores/lease-store.ts'
import { MessageMapStore } from '../../src/storage/stores/messages/message-map-store.ts'
import type { NewClaim } from '../../src/storage/stores/messages/message-map-store.ts'
import { newDatabase, withoutPostgres } from '../harness/databases.ts'
import { holdOf } from '../harness/holds.ts'
import { waitUntil } from '../harness/wait-until.ts'

const turn = 1

function claimOf(id: string): NewClaim {
  return {
    ...{
      id,
      instance: 'a',
      destination: 'd1',
      chat: 'p1',
      sender: 'p1',
      networkId: 'W1',
      kind: 'message',
      direction: 'in',
    },
    networkKey: { chat: '77@lid', id: 'W1', fromMe: false, participant: null },
    ...{ networkAt: 5, content: null, posting: { conversationId: 12, since: 9000, after: 0 } },
  }
}

/** With these, an insertion first looks whether the message is known, and then waits for its turn. */
const pausedInsertions = `
  CREATE FUNCTION take_turn() RETURNS trigger AS 'BEGIN PERFORM pg_advisory_xact_lock(${turn}); RETURN NULL; END' LANGUAGE plpgsql;
  CREATE TRIGGER take_turn AFTER INSERT ON message_map FOR EACH STATEMENT EXECUTE FUNCTION take_turn()`

test(
  'a claim of a known message is not fresh, also when the known message disappears meanwhile',
  { skip: withoutPostgres },
  async () => {
    await using opened = await newDatabase('postgres')
    const { database, location } = opened
    assert.ok(location.engine === 'postgres')
    await new LeaseStore(database).acquire('me', 60_000)
    const map = new MessageMapStore(database)
    await map.claim(holdOf('a'), claimOf('first'), 'W1')
    const other = new pg.Client({ connectionString: location.url })
    await other.connect()
    try {
      await other.query(pausedInsertions)
      await other.query(`SELECT pg_advisory_lock(${turn})`)
      const claiming = map.claim(holdOf('a'), claimOf('second'), 'W1')
      const here = '(SELECT oid FROM pg_database WHERE datname = current_database())'
      const waiting = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = ${here}`
      await waitUntil('the claim waits for its turn', async () => (await other.query(waiting)).rows.length > 0)
      await other.query(`DELETE FROM message_map WHERE id = 'first'`)
      await other.query(`SELECT pg_advisory_unlock(${turn})`)
      assert.deepEqual(await claiming, { fresh: false, known: [] })
    } finally {
      await other.end()
    }
  },
)

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SqlDecoder, SqlEncoder } from './sql-text-cache.ts'
import { decodeBatch, encodeBatch } from './sqlite-protocol.ts'
import type { Job } from './sqlite-protocol.ts'

const secret = { seal: new Uint8Array([1, 2]), place: 'table|id|column' }

test('a batch arrives as it was sent', () => {
  const jobs: Job[] = [
    {
      statements: [
        { sql: 'SELECT 1', parameters: [] },
        { sql: 'UPDATE x SET a = ?, b = ?', parameters: [null, 0], expect: 0 },
        { sql: 'INSERT', parameters: ['', secret, new Uint8Array([3]), { seal: 'text', place: '' }, 1.5] },
      ],
      opens: undefined,
    },
    { statements: [], opens: undefined },
    {
      statements: [{ sql: 'SELECT 1', parameters: ['again'] }],
      opens: { table: 'x', key: ['id'], columns: ['a'] },
    },
  ]
  const [numbers, texts] = [new SqlEncoder(), new SqlDecoder()]
  for (let time = 0; time < 2; time++) {
    const wire = structuredClone(encodeBatch(jobs, numbers))
    assert.deepEqual(decodeBatch(wire, texts), jobs)
  }
})

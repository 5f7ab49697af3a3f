import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDatabase } from '../../test/harness/databases.ts'
import { compileOnce, compileReadOnce } from './compile-once.ts'

test('a compiled statement takes its values by name and keeps the others', async () => {
  await using set = await newDatabase('sqlite')
  const { database } = set
  const { query } = database
  const insert = compileOnce(['owner', 'epoch'], ({ owner, epoch }) =>
    query.insertInto('lease').values({ name: 'x', owner, epoch, expires_at: 7 }),
  )
  const find = compileReadOnce(['owner'], ({ owner }) =>
    query.selectFrom('lease').select(['epoch', 'expires_at']).where('owner', '=', owner).where('name', '=', 'x'),
  )
  await database.write(insert({ owner: 'mark epoch', epoch: 3 }))
  assert.deepEqual({ ...(await database.read(find({ owner: 'mark epoch' })))[0] }, { epoch: 3, expires_at: 7 })
  assert.deepEqual(await database.read(find({ owner: 'nobody' })), [])
})

test('a value that does not become a parameter is reported when the statement is compiled', async () => {
  await using set = await newDatabase('sqlite')
  const { query } = set.database
  assert.throws(
    () => compileOnce(['owner', 'unused'], ({ owner }) => query.deleteFrom('lease').where('owner', '=', owner)),
    /unused/,
  )
})

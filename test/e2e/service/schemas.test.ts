// Schemas are compiled when a route first uses them, so a broken one would only be noticed by a request.
// Runs alone: it counts the schemas that its process has not compiled.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileAll } from '../../../src/http/server/schema-compilers.ts'
import { Service } from '../../harness/service.ts'

test('every schema of every route can be compiled', async () => {
  await using service = await Service.start()
  const compiled = compileAll()
  assert.ok(compiled > 100, `the start has compiled the schemas itself: only ${compiled} were left`)
  assert.equal(compileAll(), 0)
  assert.equal((await service.get('/api/version')).status, 200)
})

// npm run demo -- --nodes 2: two processes of the service on one PostgreSQL.

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { withoutPostgres } from '../harness/databases.ts'
import { CliProcess } from './harness/cli-process.ts'
import { ownPlace, program } from './harness/demo.ts'

describe('npm run demo -- --nodes 2', { skip: withoutPostgres }, () => {
  test('--check kills a node, prints after how many seconds its accounts have moved, and leaves no file', async () => {
    await using own = await ownPlace()
    const { code, output, errors } = await CliProcess.run(program, ['--check', '--nodes', '2'], { TMPDIR: own.place })
    assert.equal(code, 0, output + errors)
    assert.match(output, /^✓ kill -9 of a node: .*shop.* moved in \d+\.\d s/m)
    assert.match(output, /^Nothing lost, nothing doubled: 16 messages in, 7 out/m)
    assert.deepEqual(await readdir(own.place), [])
  })
})

test('--nodes takes a small whole number', async () => {
  for (const wrong of ['0', '6', 'two']) {
    const { code, errors } = await CliProcess.run(program, ['--nodes', wrong])
    assert.equal(code, 1)
    assert.match(errors, /--nodes takes a whole number from 1 to 5/)
  }
})

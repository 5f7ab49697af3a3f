// Answers of the database that are lost: an accepted direct message is sent once, a refused one never, and an acknowledged one is shown.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openCut } from '../../harness/cut-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { send, sendToBob, shownAs, toBob } from './harness/direct-calls.ts'

describe('a commit whose answer is lost', { concurrency: 2 }, () => {
  test('while a message with a key is accepted: it is sent once', async () => {
    await using stage = await openCut()
    const { world, cutter } = stage
    const request = { text: 'unheard', idempotency_key: 'a' }
    cutter.cutAfter = 'insert into "outbox"'
    const sent = await sendToBob(world, request)
    assert.equal(cutter.cuts, 1)
    assert.equal((await sendToBob(world, request)).waid, sent.waid)
    await sendToBob(world, { text: 'the end' })
    assert.deepEqual(world.texts(), ['unheard', 'the end'])
    await world.arrived({ id: sent.waid })
  })

  test('while a message without a key is accepted: it is refused and taken back', async () => {
    await using stage = await openCut()
    const { world, cutter } = stage
    cutter.cutAfter = 'insert into "outbox"'
    const { error_code } = await sendToBob(world, { text: 'unheard' }, 500)
    assert.deepEqual([error_code, cutter.cuts], ['SERVICE_STORAGE_FAILED', 1])
    await waitUntil('nothing is left of it', async () => (await world.outbox())['pending'] === 0)
    await sendToBob(world, { text: 'the end' })
    assert.deepEqual(world.texts(), ['the end'])
  })

  test('while the acknowledgement is stored: the conversation shows the message without a restart', async () => {
    await using stage = await openCut()
    const { world, cutter } = stage
    const request = { to: toBob, text: 'acknowledged', idempotency_key: 'a' }
    cutter.cutAfter = 'insert into "inbox"'
    const { status, text } = await send(world, request)
    assert.ok(status < 300, text)
    assert.equal(cutter.cuts, 1)
    const { id } = await world.received('acknowledged')
    await world.arrived({ id })
    await waitUntil('the repeat says that it is sent', async () => (await send(world, request)).status === 200)
    await world.helpdesk.settled()
    assert.equal(shownAs(world, id).length, 1)
    assert.deepEqual(world.texts(), ['acknowledged'])
  })
})

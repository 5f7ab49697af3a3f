// Answers of the database that are lost: a refused direct message is not sent, and an acknowledged one is shown.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'
import { CommitCutter } from '../../harness/commit-cutter.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { send, sendToBob, shownAs, toBob } from './harness/direct-calls.ts'

/** A world whose service reaches PostgreSQL through the cutter. */
async function openCut(): Promise<{ world: AgentWorld; cutter: CommitCutter; [Symbol.asyncDispose](): Promise<void> }> {
  await using stack = new AsyncDisposableStack()
  const world = await AgentWorld.open({ engine: 'postgres' })
  const cutter = stack.use(await CommitCutter.to(world.service.databasePath))
  stack.use(world)
  await world.restart({ DATABASE_URL: cutter.url })
  const owned = stack.move()
  return { world, cutter, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

describe('a commit whose answer is lost', { concurrency: 2 }, () => {
  test('while the message is accepted: it is refused and taken back, and its key is free', async () => {
    await using stage = await openCut()
    const { world, cutter } = stage
    const request = { text: 'unheard', idempotency_key: 'a' }
    cutter.cutAfter = 'insert into "outbox"'
    const { error_code } = await sendToBob(world, request, 500)
    assert.deepEqual([error_code, cutter.cuts], ['SERVICE_STORAGE_FAILED', 1])
    const again = await sendToBob(world, request)
    assert.equal((await sendToBob(world, request)).waid, again.waid)
    await sendToBob(world, { text: 'the end' })
    assert.deepEqual(world.texts(), ['unheard', 'the end'])
    await world.arrived({ id: again.waid })
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

// The thread that writes long texts ends: memory is short, or the machine has no room for a thread.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endTextThreads } from '../../harness/text-threads.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { BridgeBed, message, person } from './harness/bridge-bed.ts'

const minute = 60_000
const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(3000))

async function receiveAll(bed: BridgeBed): Promise<void> {
  for (const [index, text] of texts.entries()) await bed.receive(message(text, { chat: person(`551190000${index}`) }))
}

test('long texts are posted whole although the thread ended again and again', async () => {
  await using bed = await BridgeBed.open()
  {
    using ended = await endTextThreads()
    await receiveAll(bed)
    await waitUntil('every text was tried twice', () => ended.count >= 6, { instead: () => ended.count })
    await waitUntil('the failures are noted', () => failures(bed) === 3)
    assert.deepEqual(bed.helpdesk.contents, [])
  }
  await bed.postedWithin(3, minute)
  await bed.drained()
  assert.deepEqual(bed.helpdesk.contents.toSorted(), texts)
})

test('a long text is parked, and not replaced, when the thread ends at each of ten attempts', async () => {
  await using bed = await BridgeBed.open()
  {
    using ended = await endTextThreads()
    await bed.receive(message('x'.repeat(3000)))
    const isParked = async () => {
      await bed.pass(minute)
      return bed.inbound.counts().parked === 1 || bed.helpdesk.messages.length > 0
    }
    await waitUntil('the text is parked', isParked, { instead: () => ended.count })
  }
  assert.deepEqual(bed.helpdesk.contents, [], 'no notice takes its place')
  assert.equal(failures(bed), 10)
  assert.equal(await bed.inbound.retryParked('a'), 1)
  await bed.posted(1)
  assert.deepEqual(bed.helpdesk.contents, ['x'.repeat(3000)])
})

function failures(bed: BridgeBed): number {
  return bed.logs.withMessage('a message was not delivered').length
}

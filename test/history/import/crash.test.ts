// An import that is interrupted at any step goes on where it was: nothing is posted twice, and the counts are exact.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { message, person } from '../../bridge/inbound/harness/bridge-bed.ts'
import { ImportBed, past } from '../harness/import-bed.ts'
import type { BedRun } from '../harness/import-bed.ts'

const bob = person('5511977776666')

/** One chat without a conversation and one with a live message, so that every kind of conversation is made. */
async function prepare(bed: ImportBed): Promise<void> {
  await bed.bridge.receive(message('live', { at: bed.clock.now(), chat: bob, sender: bob }))
  await bed.bridge.drained()
  await bed.keep([1, 2].map((n) => past(bed, `maria ${n}`, n)))
  bed.requestHistory = async (before) => {
    if (before.key.chat.startsWith(bob.phone)) {
      await bed.keep([1, 2].map((n) => past(bed, `bob ${n}`, n, { id: `BOB${n}`, chat: bob, sender: bob })))
    }
    return { seen: 2 }
  }
}

async function check(bed: ImportBed, run: BedRun): Promise<void> {
  const result = await bed.finish(run, 1000)
  const { chats, scanned, imported, posted, messagesKept, messagesSeen, messageErrors } = result
  assert.deepEqual(
    { chats, scanned, imported, posted, messagesKept, messagesSeen, messageErrors },
    { chats: 2, scanned: 2, imported: 2, posted: 4, messagesKept: 4, messagesSeen: 4, messageErrors: 0 },
  )
  assert.deepEqual(
    bed.conversations.map(({ status, isHistory, shown }) => ({ status, isHistory, shown })).sort(byText),
    [
      { status: 'open', isHistory: false, shown: ['< live'] },
      { status: 'resolved', isHistory: false, shown: ['#', '< maria 1', '< maria 2'] },
      { status: 'resolved', isHistory: true, shown: ['#', '< bob 1', '< bob 2'] },
    ].sort(byText),
  )
  assert.deepEqual(await bed.importing(), [])
  assert.equal(await bed.keptRows(), 0)
}

function byText(one: { shown: string[] }, other: { shown: string[] }): number {
  return one.shown.join() < other.shown.join() ? -1 : 1
}

/** The calls to the helpdesk of a whole import. */
async function callsOfImport(): Promise<number> {
  await using bed = await ImportBed.open()
  await prepare(bed)
  const before = bed.helpdesk.calls.length
  await check(bed, bed.start(await bed.job({ params: { count: 50 } })))
  return bed.helpdesk.calls.length - before
}

test('a process that ends before or after any call to the helpdesk loses and doubles nothing', async () => {
  const calls = await callsOfImport()
  assert.ok(calls > 15, `${calls} calls`)
  for (let at = 1; at <= calls; at++) {
    await using bed = await ImportBed.open()
    await prepare(bed)
    const job = await bed.job({ params: { count: 50 } })
    const crashed = Promise.withResolvers<unknown>()
    let count = 0
    bed.helpdesk.script = () => {
      if (++count !== at) return
      crashed.resolve(undefined)
      // The call is made, but this process hears nothing of it.
      if (at % 2 === 0) return
      return new Promise(() => undefined)
    }
    const run = bed.start(job)
    const isOver = { value: false }
    void crashed.promise.then(() => (isOver.value = true))
    while (!isOver.value) await bed.bridge.pass(350)
    await bed.restart(run)
    bed.helpdesk.script = () => undefined
    await check(bed, bed.start(job))
  }
})

// The clock of the machine was an hour ahead and is put right: times that were stored meanwhile lie in the future. Or it is wrong
// for a moment.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OutboundBed } from './harness/outbound-bed.ts'
import { rowOf } from './harness/views.ts'

const hour = 3_600_000

async function openAhead(): Promise<OutboundBed> {
  const bed = await OutboundBed.open()
  bed.clock.set(hour)
  return bed
}

for (const isRestarted of [false, true]) {
  const which = isRestarted ? 'after a restart' : 'in the same process'
  test(`a postponed message and its chat go on within a minute, ${which}`, async () => {
    await using bed = await openAhead()
    bed.network.fault({ kind: 'in_doubt' })
    void bed.post(bed.callback(1, 'x'))
    await bed.until('it is postponed', async () => (await rowOf(bed, 1)).attempts === 1, { stepMs: 0 })
    bed.clock.set(-hour)
    if (isRestarted) await bed.restart()
    void bed.post(bed.callback(2, 'y'))
    await bed.pass(60_000)
    assert.deepEqual(bed.texts(), ['x', 'y'])
  })
}

test('the same text is not blocked as a repetition an hour long', async () => {
  await using bed = await openAhead()
  bed.change('n0', { isSpamguardEnabled: true })
  assert.equal((await bed.post(bed.callback(1, 'a message that is long enough'))).status, 200)
  bed.clock.set(-hour)
  await bed.pass(60_000)
  assert.equal((await bed.post(bed.callback(2, 'a message that is long enough'))).status, 200)
})

test('Retry sends a message that came after the clock was put right and whose callback was lost', async () => {
  await using bed = await openAhead()
  await bed.write('the first callback')
  bed.clock.set(-hour)
  await bed.write('the first callback with the right time')
  await bed.pass(60_000)
  await bed.stop()
  const id = await bed.write('lost')
  await bed.start()
  await bed.desk.retry(id)
  await bed.received('lost')
})

for (const [name, byMs] of [
  ['ahead', hour],
  ['behind', -hour],
] as const) {
  test(`a message that waits does not expire because the clock is an hour ${name} for a moment`, async () => {
    await using bed = await OutboundBed.open()
    bed.disconnect()
    assert.equal((await bed.post(bed.callback(1, 'before'))).status, 202)
    bed.clock.set(byMs)
    assert.equal((await bed.post(bed.callback(2, 'meanwhile'))).status, 202)
    await bed.pass(40_000)
    bed.clock.set(-byMs)
    await bed.pass(10_000)
    bed.connect()
    await bed.received('meanwhile')
    assert.deepEqual(bed.texts(), ['before', 'meanwhile'])
  })
}

// Several instances import at the same time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ImportBed, past } from '../harness/import-bed.ts'
import { person } from '../../bridge/inbound/harness/bridge-bed.ts'

test('two instances import side by side at the same speed', async () => {
  await using bed = await ImportBed.open({ instances: ['a', 'b'] })
  for (const instance of ['a', 'b']) {
    // One instance has many chats, the other one has two.
    const chats = instance === 'a' ? 6 : 2
    const events = Array.from({ length: 30 }, (_, n) => {
      const chat = person(`55119${instance === 'a' ? 1 : 2}000000${n % chats}`)
      return past(bed, `${instance}${n}`, n, { chat, sender: chat })
    })
    await bed.keep(events, { instance })
  }
  const runs = [bed.start(await bed.job()), bed.start(await bed.job({ instance: 'b' }))]
  const posted = () => runs.map((run) => run.progress().posted)
  while (Math.max(...posted()) < 20) await bed.bridge.pass(200)
  const [ofA = 0, ofB = 0] = posted()
  assert.ok(Math.abs(ofA - ofB) <= 4, `a: ${ofA}, b: ${ofB}`)
  for (const run of runs) assert.equal((await bed.finish(run, 200)).posted, 30)
})

test('all imports together keep to the configured rate', async () => {
  await using bed = await ImportBed.open({ environment: { SERVICE_HISTORY_IMPORT_RATE_PER_SEC: '2' } })
  const events = Array.from({ length: 12 }, (_, n) => {
    const chat = person(`5511910000${n % 6}00`)
    return past(bed, `${n}`, n, { chat, sender: chat })
  })
  await bed.keep(events)
  const run = bed.start(await bed.job())
  const times: number[] = []
  bed.helpdesk.afterPost = ({ private: isNote }) => {
    if (!isNote) times.push(bed.clock.monotonic())
  }
  await bed.finish(run, 50)
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0))
  assert.ok(Math.min(...gaps) >= 450, gaps.join(' '))
})

// The texts to the callers of rejected calls, on a real store.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallTexts } from '../../../src/bridge/calls/call-texts.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { RejectedCallStore } from '../../../src/storage/stores/messages/rejected-call-store.ts'
import { engines, newDatabase } from '../../harness/databases.ts'
import { silentLog } from '../../harness/logs.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { holdOf, nodeHold } from '../../harness/holds.ts'

for (const engine of engines) {
  test(`texts that have to wait do not hold up those of another instance, on ${engine}`, async () => {
    await using place = await newDatabase(engine)
    const { database } = place
    const epoch = (await new LeaseStore(database).acquire('test', 600_000)) ?? 0
    const store = new RejectedCallStore(
      database,
      (instance) => holdOf(instance, epoch),
      () => nodeHold(epoch),
    )
    const clock = new ManualClock()
    const reject = async (instance: string, callId: string, at: number) => {
      await store.claim({ instance, callId }, { phone: callId, lid: null }, at)
      await store.confirm({ instance, callId }, { at, textOnceInMs: 1000 })
    }
    // More than the store gives out at a time, some of them rejected in the same millisecond.
    const waiting = Array.from({ length: 230 }, (_, n) => `55119${String(n)}`)
    await Promise.all(waiting.map((phone, n) => reject('full', phone, clock.now() + (n % 3))))
    await reject('shop', '5511988887777', clock.now() + 3)
    const tried: string[] = []
    const texts = new CallTexts({
      store,
      text: 'We take no calls.',
      send: (instance, { to }) => {
        tried.push(`${instance} ${to.kind === 'person' ? to.phone : ''}`)
        return Promise.resolve({ kind: instance === 'full' ? 'later' : 'accepted' })
      },
      clock,
      log: silentLog,
    })
    await texts.run('all')
    const all = [...waiting.map((phone) => `full ${phone}`), 'shop 5511988887777']
    assert.deepEqual(tried.toSorted(), all.toSorted(), 'each once')
    const due = await store.dueTexts(1000, 'all')
    assert.deepEqual([due.length, due.some(({ instance }) => instance === 'shop')], [230, false])
  })
}

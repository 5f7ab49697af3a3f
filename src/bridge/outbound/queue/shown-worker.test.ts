import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../test/harness/logs.ts'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { waitUntil } from '../../../../test/harness/wait-until.ts'
import { NotHeldError } from '../../../core/nodes/hold.ts'
import type { DueLook } from '../../../storage/stores/messages/shown-store.ts'
import { ShownWorker } from './shown-worker.ts'
import { allDuties } from '../../../../test/harness/duties.ts'

test('an instance that another node holds does not keep the looks of others from beginning', async () => {
  const lost = () => Promise.reject(new NotHeldError('lost'))
  const due: DueLook[] = ['needless', 'needed'].map((id) => ({
    ...{ id, instance: 'shop', destination: 'desk', messageId: 1, lookAt: 0 },
  }))
  const looked: string[] = []
  await using worker = new ShownWorker({
    store: { planUnsure: lost, endLooks: lost, due: () => Promise.resolve(due.splice(0)) },
    answers: { flush: () => Promise.resolve() },
    look: {
      lookIfDue: (id) => {
        looked.push(id)
        return Promise.resolve()
      },
    },
    duties: allDuties,
    isUndecided: () => false,
    isNeedless: ({ id }) => id === 'needless',
    clock: new ManualClock(),
    log: silentLog,
    start: () => undefined,
  })
  await worker.run()
  await waitUntil('the look has begun', () => looked.length > 0)
  assert.deepEqual(looked, ['needed'])
})

// The worker looks at chats whose labels may have changed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkLabels } from '../../../core/sync/labels.ts'
import { systemClock } from '../../../lib/clock.ts'
import { RecordedLog } from '../../../../test/harness/logs.ts'
import { waitUntil } from '../../../../test/harness/wait-until.ts'
import { LabelWorker } from './label-worker.ts'

const agreement = { destination: null, conversationId: null, titles: [] }

function stage() {
  const due = [{ chat: 'p1', agreement, mark: 'mark', attempts: 0 }]
  const looked: string[] = []
  const nothing = () => Promise.resolve()
  const labels: NetworkLabels = {
    ...{ isRead: true, refresh: nothing, name: nothing, mark: nothing, addressOf: () => Promise.resolve('') },
  }
  const account = { isConnected: false }
  const worker = new LabelWorker({
    agreements: {
      due: () => Promise.resolve([...due]),
      nextDueAt: () => Promise.resolve(null),
      settle: () => Promise.resolve(void due.pop()),
    },
    look: {
      run: ({ chat }) => {
        looked.push(chat)
        return Promise.resolve({ result: 'ok', agreement, isDone: true })
      },
    },
    sessionOf: () => (account.isConnected ? { labels } : undefined),
    counts: { count: () => undefined },
    clock: systemClock,
    log: new RecordedLog().log,
  })
  return { worker, account, looked }
}

test('a chat that was due before the account counted as connected is looked at a moment later', async () => {
  const { worker, account, looked } = stage()
  worker.wake('shop')
  worker.retry()
  account.isConnected = true
  await waitUntil('the chat is looked at', () => {
    worker.retry()
    return looked.length > 0
  })
  await worker[Symbol.asyncDispose]()
  assert.deepEqual(looked, ['p1'])
})

test('an instance that has left is not looked at any more', async () => {
  const { worker, account, looked } = stage()
  worker.wake('shop')
  await worker.leave('shop')
  account.isConnected = true
  worker.retry()
  await worker[Symbol.asyncDispose]()
  assert.deepEqual(looked, [])
})

// What becomes of changes at the helpdesk while storage fails.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../lib/clock.ts'
import type { DueMarks } from '../../../storage/stores/people/label-agreement-store.ts'
import { RecordedLog } from '../../../../test/harness/logs.ts'
import { LabelIntake } from './label-intake.ts'
import { LabelWrites } from './label-writes.ts'

function stage() {
  const marked: string[] = []
  const woken: string[] = []
  const storage = { isAway: true }
  const { log } = new RecordedLog()
  const nothing = () => Promise.resolve([])
  const intake = new LabelIntake({
    labels: {
      ...{ labels: nothing, labelsOf: nothing, chatsWith: nothing, labelledChats: nothing },
      update: () => Promise.resolve(),
    },
    agreements: {
      agreedChats: nothing,
      markDue: (instance: string, { chats }: DueMarks) => {
        if (storage.isAway) return Promise.reject(new Error('storage is away'))
        marked.push(...chats.map((chat) => `${instance} ${chat}`))
        return Promise.resolve()
      },
    },
    people: { lookUpAll: () => Promise.resolve(() => undefined) },
    writes: new LabelWrites({ clock: systemClock }),
    counts: { count: () => undefined },
    wake: (instance) => woken.push(instance),
    newMark: () => 'mark',
    clock: systemClock,
    log,
  })
  return { intake, storage, marked, woken }
}

test('a change that storage could not take is stored later', async () => {
  const { intake, storage, marked, woken } = stage()
  await intake.chatChanged('shop', 'p1')
  await intake.chatChanged('shop', 'p2')
  await intake.chatChanged('shop', 'p1')
  await intake.retry()
  assert.deepEqual(marked, [])
  storage.isAway = false
  await intake.retry()
  await intake.retry()
  assert.deepEqual([marked.sort(), woken], [['shop p1', 'shop p2'], ['shop']])
})

test('nothing is stored later for an instance that has left, or whose account has no labels', async () => {
  const { intake, storage, marked } = stage()
  await intake.chatChanged('shop', 'p1')
  intake.leave('shop')
  storage.isAway = false
  await intake.retry()
  intake.onNoLabels('other')
  await intake.chatChanged('other', 'p1')
  assert.deepEqual(marked, [])
})

// What news of the network change in what is stored of its labels.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LabelChange } from '../../../core/sync/labels.ts'
import { workOut } from './label-update.ts'

const vip = { id: '1', name: 'VIP', title: 'vip' }
const hot = { id: '2', name: 'Hot', title: 'hot' }
const known = {
  labels: [vip, hot],
  chats: [
    { jid: 'a@lid', labelId: '1' },
    { jid: 'b@lid', labelId: '2' },
  ],
}

function take(changes: LabelChange[], isWhole = false) {
  const { update, affected } = workOut(known, { changes, isWhole, isNewLink: false, isOwn: false })
  return { ...update, affected: [...affected].sort() }
}

test('news that are known already change nothing', () => {
  const changes = take([
    { kind: 'named', labelId: '1', name: 'VIP' },
    { kind: 'chat', labelId: '1', chat: 'a@lid', isLabelled: true },
    { kind: 'chat', labelId: '1', chat: 'b@lid', isLabelled: false },
  ])
  assert.deepEqual(changes, { labels: [], labelled: [], unlabelled: [], isWhole: false, affected: [] })
})

test('a renamed label affects its chats', () => {
  const { labels, affected } = take([{ kind: 'named', labelId: '1', name: 'Gold' }])
  assert.deepEqual(labels, [{ id: '1', name: 'Gold', title: 'gold' }])
  assert.deepEqual(affected, ['a@lid'])
})

test('a deleted label is removed from its chats, and its title is free', () => {
  const { labels, unlabelled, affected } = take([
    { kind: 'named', labelId: '3', name: 'vip' },
    { kind: 'deleted', labelId: '1' },
  ])
  assert.deepEqual(labels, [
    { ...vip, title: null },
    { id: '3', name: 'vip', title: 'vip' },
  ])
  assert.deepEqual(unlabelled, [{ jid: 'a@lid', labelId: '1' }])
  assert.deepEqual(affected, ['a@lid'])
})

test('of several changes of one chat the last one counts', () => {
  const mark = (isLabelled: boolean): LabelChange => ({ kind: 'chat', labelId: '2', chat: 'c@lid', isLabelled })
  assert.deepEqual(take([mark(true), mark(false), mark(true)]).labelled, [{ jid: 'c@lid', labelId: '2' }])
  assert.deepEqual(take([mark(true), mark(false)]).affected, [])
})

test('what is missing in the whole list does not exist any more', () => {
  const whole = take(
    [
      { kind: 'named', labelId: '2', name: 'Hot' },
      { kind: 'chat', labelId: '2', chat: 'b@lid', isLabelled: true },
    ],
    true,
  )
  assert.deepEqual(whole.labels, [{ ...vip, title: null }])
  assert.deepEqual(whole.labelled, [{ jid: 'b@lid', labelId: '2' }])
  assert.deepEqual(whole.affected, ['a@lid'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { MergeGate } from './merge-gate.ts'

const never = new AbortController().signal
const noConversations = () => Promise.resolve([])

test('a contact that is merged while a conversation is to be opened is found again', async () => {
  const gate = new MergeGate()
  const merged = Promise.withResolvers<undefined>()
  const contacts = [1]
  const merging = gate.merge('desk', { keep: 2, drop: 1 }, noConversations, async () => {
    await merged.promise
    contacts[0] = 2
  })
  const found: number[] = []
  const find = () => Promise.resolve({ id: contacts[0] ?? 0 })
  const opening = gate.withContact('desk', find, ({ id }) => Promise.resolve(found.push(id)))
  await setImmediate()
  assert.equal(found.length, 0)
  merged.resolve(undefined)
  await Promise.all([merging, opening])
  assert.deepEqual(found, [2])
})

test('a merge waits for the conversation that is being opened, and then closes that one too', async () => {
  const gate = new MergeGate()
  const log: string[] = []
  const opened = Promise.withResolvers<undefined>()
  const conversations: number[] = []
  const opening = gate.withContact(
    'desk',
    () => Promise.resolve({ id: 1 }),
    async () => {
      await opened.promise
      conversations.push(7)
    },
  )
  await setImmediate()
  const ended = Promise.withResolvers<undefined>()
  const merging = gate.merge(
    'desk',
    { keep: 2, drop: 1 },
    () => Promise.resolve(conversations),
    async () => {
      log.push('merge')
      await ended.promise
    },
  )
  await setImmediate()
  assert.equal(log.length, 0)
  opened.resolve(undefined)
  await opening
  await setImmediate()
  const say = (text: string) => () => Promise.resolve(log.push(text))
  const post = gate.post('desk', 7, say('post'), never)
  await gate.post('other desk', 7, say('elsewhere'), never)
  await setImmediate()
  assert.deepEqual(log, ['merge', 'elsewhere'])
  ended.resolve(undefined)
  await Promise.all([merging, post])
  assert.deepEqual(log, ['merge', 'elsewhere', 'post'])
})

test('a contact that gets another one is not merged itself meanwhile, in either order', async () => {
  for (const second of [
    { keep: 1, drop: 2 },
    { keep: 3, drop: 2 },
  ]) {
    const gate = new MergeGate()
    const log: string[] = []
    const ended = Promise.withResolvers<undefined>()
    const one = gate.merge('desk', { keep: 2, drop: 1 }, noConversations, () => ended.promise)
    const two = gate.merge('desk', second, noConversations, () => Promise.resolve(log.push('second')))
    await setImmediate()
    assert.deepEqual(log, [])
    ended.resolve(undefined)
    await Promise.all([one, two])
    assert.deepEqual(log, ['second'])
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { DownstreamError } from '../../core/downstream.ts'
import type { Conversation } from '../../core/helpdesk/conversation.ts'
import type { DestinationKey } from '../../core/ids.ts'
import { AwaitedCallbacks } from './awaited-callbacks.ts'
import { LostCallbacks } from './lost-callbacks.ts'

const access = { baseUrl: 'https://desk.example', apiToken: 't', accountId: 1, inboxId: 7 }
const destination = { ...access, key: 'inbox-7' as DestinationKey }
const failure = { reason: 'Connection refused', advice: 'check the webhook URL' }
const second = 1000

function open() {
  const clock = new ManualClock()
  const callbacks = new LostCallbacks({ clock, log: silentLog })
  const awaited = new AwaitedCallbacks({ callbacks, clock, log: silentLog })
  const looks: number[] = []
  const bed = { isFailed: true, isAway: false }
  const findConversation = (id: number): Promise<Conversation> => {
    looks.push(id)
    if (bed.isAway) return Promise.reject(new DownstreamError('destination', 'away'))
    const callbackSign = { at: clock.now(), failure: bed.isFailed ? failure : null, failedId: null }
    return Promise.resolve({ id, status: 'open', inboxId: 7, contactId: 1, newestMessageId: 1, callbackSign })
  }
  const post = (conversationId: number, tookMs = 0) => {
    awaited.posted({ destination, helpdesk: { findConversation }, conversationId }, tookMs)
  }
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += second) {
      await clock.advance(second)
      awaited.run()
    }
    await clock.advance(0)
  }
  return { clock, callbacks, looks, bed, post, pass }
}

test('a single message that no callback follows is looked at once, and its failure is known', async () => {
  const { callbacks, looks, post, pass } = open()
  post(5)
  await pass(14 * second)
  assert.deepEqual(looks, [])
  await pass(60 * second)
  assert.deepEqual(looks, [5])
  assert.equal(callbacks.list()[0]?.reason, failure.reason)
})

test('a message that a callback follows costs no look, also when the callback came before the answer to the POST', async () => {
  const { clock, callbacks, looks, post, pass } = open()
  post(5)
  callbacks.heard(destination.key)
  await pass(20 * second)
  callbacks.heard(destination.key)
  await clock.advance(100)
  post(6, 150)
  await pass(20 * second)
  assert.deepEqual(looks, [])
})

test('callbacks that end while messages are posted are noticed: a heard post makes room for the next one', async () => {
  const { callbacks, looks, post, pass } = open()
  post(5)
  callbacks.heard(destination.key)
  await pass(2 * second)
  post(6)
  await pass(20 * second)
  assert.deepEqual(looks, [6])
})

test('a helpdesk that never calls is looked at once in five minutes', async () => {
  const { looks, bed, post, pass } = open()
  bed.isFailed = false
  for (let count = 0; count < 600; count++) {
    post(5)
    await pass(second)
  }
  assert.ok(looks.length >= 2 && looks.length <= 3, `${looks.length} looks`)
})

test('a helpdesk that does not answer the look is left alone', async () => {
  const { callbacks, looks, bed, post, pass } = open()
  bed.isAway = true
  post(5)
  await pass(30 * second)
  assert.deepEqual([looks, callbacks.list()], [[5], []])
})

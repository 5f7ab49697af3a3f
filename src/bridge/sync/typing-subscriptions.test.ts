import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordedLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { maxUsedChats, TypingSubscriptions, usedForMs } from './typing-subscriptions.ts'

const instance = 'n0'
const bob = '5511888880001@s.whatsapp.net'

class Stage {
  readonly clock = new ManualClock()
  readonly asked: string[] = []
  isConnected = true
  isBroken = false
  readonly subscriptions = new TypingSubscriptions({
    sessionOf: () => (this.isConnected ? this.#session : undefined),
    clock: this.clock,
    log: new RecordedLog().log,
  })
  readonly #session = {
    subscribeToPresence: (address: string) => {
      this.asked.push(address)
      return this.isBroken ? Promise.reject(new Error('the connection broke')) : Promise.resolve()
    },
  }

  use(address = bob, at = this.clock.now()): void {
    this.subscriptions.used(instance, address, at)
  }
}

test('nothing is asked while the account is offline; the chats of ten minutes follow when it comes online', async () => {
  const stage = new Stage()
  stage.use()
  await stage.clock.advance(usedForMs - 1)
  stage.use('early', stage.clock.now() - 60_000)
  assert.deepEqual(stage.asked, [])
  stage.subscriptions.cameOnline(instance)
  assert.deepEqual(stage.asked, [bob, 'early'])
  stage.subscriptions.wentOffline(instance)
  await stage.clock.advance(1)
  stage.subscriptions.cameOnline(instance)
  assert.deepEqual(stage.asked, [bob, 'early', 'early'], 'the ten minutes of the first are over')
})

test('while the account is online, a chat is asked for once', async () => {
  const stage = new Stage()
  stage.subscriptions.cameOnline(instance)
  for (let message = 0; message < 20; message++) {
    stage.use()
    await stage.clock.advance(60_000)
  }
  assert.deepEqual(stage.asked, [bob])
})

test('a message that is older than ten minutes asks for nothing, and a clock that is ahead gives no more time', async () => {
  const stage = new Stage()
  stage.use('old', stage.clock.now() - usedForMs)
  stage.use('ahead', stage.clock.now() + 3_600_000)
  await stage.clock.advance(usedForMs)
  stage.subscriptions.cameOnline(instance)
  assert.deepEqual(stage.asked, [])
})

test('the ten minutes do not depend on the clock on the wall', async () => {
  const stage = new Stage()
  stage.use()
  stage.clock.set(-86_400_000)
  await stage.clock.advance(usedForMs)
  stage.subscriptions.cameOnline(instance)
  assert.deepEqual(stage.asked, [])
})

test('of too many chats, those that were used last are asked for', () => {
  const stage = new Stage()
  for (let chat = 0; chat < maxUsedChats + 50; chat++) stage.use(`chat ${chat}`)
  stage.use('chat 50')
  stage.use('another')
  stage.subscriptions.cameOnline(instance)
  assert.equal(stage.asked.length, maxUsedChats)
  assert.ok(stage.asked.includes('chat 50'), 'it was used again')
  assert.ok(!stage.asked.includes('chat 51'))
})

test('a new connection is asked again, a missing one not at all, and a failed question is repeated', async () => {
  const stage = new Stage()
  stage.use()
  stage.isBroken = true
  stage.subscriptions.cameOnline(instance)
  await stage.clock.advance(0)
  stage.isBroken = false
  stage.use()
  stage.use()
  assert.equal(stage.asked.length, 2)
  stage.subscriptions.wentOffline(instance)
  stage.isConnected = false
  stage.use()
  assert.equal(stage.asked.length, 2)
  stage.isConnected = true
  stage.subscriptions.cameOnline(instance)
  assert.equal(stage.asked.length, 3)
})

test('nothing is remembered of an instance that has left', () => {
  const stage = new Stage()
  stage.use()
  stage.subscriptions.leave(instance)
  stage.subscriptions.cameOnline(instance)
  assert.deepEqual(stage.asked, [])
})

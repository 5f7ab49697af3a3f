// What becomes of a rejection when the database or the network fails, on a real store.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallRejections } from '../../../src/bridge/calls/call-rejections.ts'
import type { RejectionEnd } from '../../../src/bridge/calls/call-rejections.ts'
import { chooseSettings } from '../../../src/config/own-settings.ts'
import { loadConfig } from '../../../src/config/config.ts'
import type { CallEvent } from '../../../src/core/message.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { RejectedCallStore } from '../../../src/storage/stores/messages/rejected-call-store.ts'
import { engines, newDatabase } from '../../harness/databases.ts'
import { RecordedLog } from '../../harness/logs.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { holdOf, nodeHold } from '../../harness/holds.ts'

const caller = { phone: '5511988887777', lid: '300000000000001' }
const ringing: CallEvent = {
  ...{ kind: 'call', id: 'CALL1', at: 1000, chat: { kind: 'person', ...caller }, sender: caller, fromMe: false },
  ...{ pushName: 'Maria', video: false, missed: false, caller: '300000000000001@lid' },
}
const call = { instance: 'shop', callId: 'CALL1' }

type Script = { rejectCall?: () => Promise<boolean>; failingCommits?: number }

async function open(engine: (typeof engines)[number], { rejectCall, failingCommits = 0 }: Script = {}) {
  await using stack = new AsyncDisposableStack()
  const { database } = stack.use(await newDatabase(engine))
  const epoch = (await new LeaseStore(database).acquire('test', 600_000)) ?? 0
  const store = new RejectedCallStore(
    database,
    (instance) => holdOf(instance, epoch),
    () => nodeHold(epoch),
  )
  const clock = new ManualClock()
  const recorded = new RecordedLog()
  const settings = chooseSettings(loadConfig({ SERVICE_REJECT_CALLS: 'true' }), {})
  const ends: RejectionEnd[] = []
  let failures = failingCommits
  const confirm: RejectedCallStore['confirm'] = (...given) =>
    failures-- > 0 ? Promise.reject(new Error('the database is away')) : store.confirm(...given)
  const rejections = new CallRejections({
    store: {
      claim: (...given) => store.claim(...given),
      unclaim: (...given) => store.unclaim(...given),
      outcomeOf: (...given) => store.outcomeOf(...given),
      confirm,
    },
    sessionOf: () => ({ rejectCall: rejectCall ?? (() => Promise.resolve(true)) }),
    settingsOf: () => settings,
    isIgnored: () => false,
    textOnceInMs: 3_600_000,
    onEnded: (_, end) => ends.push(end),
    clock,
    log: recorded.log,
  })
  const ring = () => {
    rejections.received('shop', [{ id: 'row1', event: ringing, receivedAt: 1000 }])
  }
  const failed = (count: number) =>
    waitUntil('the commit has failed', () => {
      return recorded.withMessage('a rejected call could not be noted yet').length >= count
    })
  const owned = stack.move()
  return { store, clock, rejections, ring, failed, ends, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

for (const engine of engines) {
  test(`a rejection that the database does not take at once is stored later, and its text is due, on ${engine}`, async () => {
    await using stage = await open(engine, { failingCommits: 3 })
    const { store, clock, rejections, ring, failed, ends } = stage
    ring()
    const rejectedAt = clock.now()
    const outcome = rejections.outcomeOf('shop', 'CALL1')
    for (const count of [2, 3]) {
      await failed(count)
      await clock.advance(60_000)
    }
    assert.equal(await outcome, 'rejected')
    const due = await store.dueTexts(10, 'all')
    assert.deepEqual(due, [{ ...call, caller, rejectedAt }])
    assert.deepEqual(ends, ['rejected'])
  })

  test(`an instance that leaves does not wait for a database that is away, on ${engine}`, async () => {
    await using stage = await open(engine, { failingCommits: Infinity })
    const { store, rejections, ring, failed } = stage
    ring()
    await failed(2)
    await rejections.leave('shop')
    assert.equal(await store.outcomeOf(call), 'unconfirmed')
  })

  test(`a rejection that WhatsApp confirms while the instance leaves is stored, on ${engine}`, async () => {
    const answer = Promise.withResolvers<boolean>()
    const asked = Promise.withResolvers<null>()
    const rejectCall = () => {
      asked.resolve(null)
      return answer.promise
    }
    await using stage = await open(engine, { rejectCall })
    const { store, rejections, ring } = stage
    ring()
    await asked.promise
    const left = rejections.leave('shop')
    answer.resolve(true)
    await left
    assert.equal(await store.outcomeOf(call), 'rejected')
  })

  test(`every attempt is counted by its end, on ${engine}`, async () => {
    const answers: Record<RejectionEnd, () => Promise<boolean>> = {
      rejected: () => Promise.resolve(true),
      over: () => Promise.resolve(false),
      unconfirmed: () => Promise.reject(new Error('the network refused')),
    }
    for (const [end, rejectCall] of Object.entries(answers)) {
      await using stage = await open(engine, { rejectCall })
      stage.ring()
      await stage.rejections.outcomeOf('shop', 'CALL1')
      assert.deepEqual(stage.ends, [end])
    }
  })
}

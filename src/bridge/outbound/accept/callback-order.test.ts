import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ManualClock } from '../../../../test/harness/manual-clock.ts'
import { silentLog } from '../../../../test/harness/logs.ts'
import type { HelpdeskInbox } from '../../../core/downstream.ts'
import type { OutgoingMessage } from '../../../core/helpdesk/message.ts'
import type { Route } from '../../conversations/route.ts'
import { CallbackOrder } from './callback-order.ts'
import type { SendCommand } from './commands.ts'
import { MissingCallbacks } from './missing-callbacks.ts'

type Range = { afterId: number | null; beforeId: number }

const justNow = { writtenMsAgo: 0, leftMs: 3800 }
const destination = { key: 'desk|1|1', baseUrl: 'http://desk', apiToken: 't', accountId: 1, inboxId: 1 }
const route = { sender: { name: 'shop' }, destination } as Route

/** A conversation at a helpdesk that knows these messages, and what was started when. */
class Stage {
  readonly clock = new ManualClock()
  readonly questions: Range[] = []
  readonly started: { id: number; at: number; waited: number }[] = []
  /** What was accepted before its turn. */
  readonly early: number[] = []
  written: number[] = []
  accepted: number[] = []
  reordered = 0
  /** What becomes of a question; the answer when it resolves. */
  answer: (found: OutgoingMessage[]) => Promise<OutgoingMessage[]> = (found) => Promise.resolve(found)
  /** What becomes of a question to the database. */
  read: (found: number[]) => Promise<number[]> = (found) => Promise.resolve(found)
  createdAt = this.clock.now()
  readonly order = new CallbackOrder({
    missing: new MissingCallbacks({
      downstream: { helpdesk: () => ({ outgoingMessages: (_, range) => this.#ask(range) }) as HelpdeskInbox },
      store: { acceptedAmong: (_, ids) => this.read(ids.filter((id) => this.accepted.includes(id))) },
      clock: this.clock,
    }),
    metrics: { reordered: () => this.reordered++ },
    clock: this.clock,
    log: silentLog,
  })

  /** The callback of a message comes now. */
  comes(id: number, { writtenMsAgo = 0, conversationId = 7, leftMs = 3800 } = {}): void {
    const at = this.clock.monotonic()
    const start = () => {
      const now = this.clock.monotonic()
      this.started.push({ id, at: now, waited: now - at })
    }
    void this.order.inTurn(route, commandOf(id, conversationId), { writtenMsAgo, leftMs }, (turn) => {
      if (turn) this.early.push(id)
      if (turn) turn.whenItComes(start)
      else start()
      return Promise.resolve()
    })
  }

  get ids(): number[] {
    return this.started.map(({ id }) => id)
  }

  #ask(range: Range): Promise<OutgoingMessage[]> {
    this.questions.push(range)
    const { afterId, beforeId } = range
    const isAsked = (id: number) => (afterId === null ? id < beforeId : id > afterId)
    return this.answer(this.written.filter(isAsked).map((id) => ({ id, createdAt: this.createdAt })))
  }
}

function commandOf(messageId: number, conversationId: number): SendCommand {
  return { messageId, conversation: { accountId: 1, inboxId: 1, conversationId } } as SendCommand
}

const times = fc.option(fc.integer({ min: 0, max: 1900 }), { nil: null, freq: 8 })

test('callbacks start in the order of their ids, none waits longer than a second, and a burst costs one question', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(times, { minLength: 1, maxLength: 25 }), async (arrivals) => {
      const stage = new Stage()
      const comesAt = new Map(arrivals.map((at, index) => [10 + 3 * index, at]))
      stage.written = [1, ...comesAt.keys()]
      stage.comes(1)
      for (const [id, at] of comesAt) {
        const come = () => {
          stage.comes(id)
        }
        if (at !== null) stage.clock.after(at, come)
      }
      await stage.clock.advance(4000)
      const came = [...comesAt].filter((each): each is [number, number] => each[1] !== null)
      assert.deepEqual(
        stage.ids.toSorted((a, b) => a - b),
        [1, ...came.map(([id]) => id)],
      )
      assert.ok(stage.started.every(({ waited }) => waited <= 1000))
      assert.equal(stage.questions.length, came.length === 0 ? 0 : 1)
      for (const [index, { id }] of stage.started.entries()) {
        const overtaken = stage.ids.slice(index + 1).filter((later) => later < id)
        const isTooLate = (late: number) =>
          came.some(([waiting, at]) => waiting > late && (comesAt.get(late) ?? 0) >= at + 1000)
        assert.ok(overtaken.every(isTooLate), `${stage.ids.join(' ')} of ${JSON.stringify([...comesAt])}`)
      }
    }),
  )
})

test('a single message starts at once and asks nothing', async () => {
  const stage = new Stage()
  stage.written = [5, 6]
  stage.comes(5)
  await stage.clock.advance(2001)
  stage.comes(6)
  await stage.clock.advance(0)
  assert.deepEqual(stage.started, [
    { id: 5, at: 0, waited: 0 },
    { id: 6, at: 2001, waited: 0 },
  ])
  assert.deepEqual(stage.questions, [])
})

test('a callback that never comes costs a second, and only once', async () => {
  const stage = new Stage()
  stage.written = [1, 2, 3, 4, 5]
  for (const id of [1, 3, 4]) stage.comes(id)
  await stage.clock.advance(1000)
  stage.comes(5)
  await stage.clock.advance(0)
  assert.deepEqual(stage.started, [
    { id: 1, at: 0, waited: 0 },
    { id: 3, at: 1000, waited: 1000 },
    { id: 4, at: 1000, waited: 1000 },
    { id: 5, at: 1000, waited: 0 },
  ])
  assert.deepEqual(stage.questions, [{ afterId: 1, beforeId: 3 }])
  stage.comes(2)
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 3, 4, 5, 2])
  assert.equal(stage.reordered, 0)
})

test('a callback with little time left waits for half of it', async () => {
  const stage = new Stage()
  stage.written = [1, 2, 3]
  for (const id of [1, 3]) stage.comes(id, { leftMs: 300 })
  await stage.clock.advance(150)
  assert.deepEqual(stage.started, [
    { id: 1, at: 0, waited: 0 },
    { id: 3, at: 150, waited: 150 },
  ])
})

test('when the first callback of a burst overtook others, only that one leaves too early', async () => {
  const stage = new Stage()
  stage.written = [500, 502, 503, 504, 505, 506]
  for (const id of [503, 504, 502, 506]) stage.comes(id)
  await stage.clock.advance(300)
  assert.deepEqual(stage.ids, [503])
  for (const id of [500, 505]) stage.comes(id)
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [503, 500, 502, 504, 505, 506])
  assert.deepEqual(stage.questions, [{ afterId: 403, beforeId: 504 }])
})

test('a burst does not wait for what was written before the last message of the burst before', async () => {
  const stage = new Stage()
  stage.written = [500, 501, 510, 520]
  stage.comes(501)
  await stage.clock.advance(2001)
  for (const id of [510, 520]) stage.comes(id)
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [501, 510, 520])
  assert.deepEqual(stage.questions, [{ afterId: 501, beforeId: 520 }])
})

test('a repeated callback asks nothing', async () => {
  const stage = new Stage()
  stage.written = [500, 501]
  for (const id of [501, 501]) stage.comes(id)
  await stage.clock.advance(0)
  assert.deepEqual([stage.ids, stage.questions], [[501, 501], []])
})

test('what was put in order is counted', async () => {
  const stage = new Stage()
  stage.written = [1, 2, 3, 4]
  for (const id of [1, 4, 3, 2]) stage.comes(id)
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 2, 3, 4])
  assert.equal(stage.reordered, 2)
})

test('an old message asks for those before it, also when it is the first, but not for what is stored already', async () => {
  const stage = new Stage()
  stage.written = [1, 2, 3, 4]
  stage.accepted = [1]
  stage.comes(4, { writtenMsAgo: 1001 })
  await stage.clock.advance(10)
  stage.comes(3, { writtenMsAgo: 1001 })
  stage.comes(2, { writtenMsAgo: 1001 })
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [2, 3, 4])
  assert.deepEqual(stage.questions, [{ afterId: null, beforeId: 4 }])
})

test('messages that were written later are asked for again', async () => {
  const stage = new Stage()
  stage.written = [1, 3]
  for (const id of [1, 3]) stage.comes(id)
  await stage.clock.advance(50)
  stage.written = [1, 3, 5, 7, 9, 11]
  for (const id of [9, 7, 5, 11]) stage.comes(id)
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 3, 5, 7, 9, 11])
  assert.deepEqual(stage.questions, [
    { afterId: 1, beforeId: 3 },
    { afterId: 3, beforeId: 9 },
  ])
})

test('a message that is older than an hour is not waited for', async () => {
  const stage = new Stage()
  stage.createdAt -= 3_600_001
  stage.written = [1, 2, 3]
  for (const id of [1, 3]) stage.comes(id)
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 3])
})

test('a helpdesk that refuses the question delays nothing', async () => {
  const stage = new Stage()
  stage.answer = () => Promise.reject(new Error('away'))
  for (const id of [1, 3, 2]) stage.comes(id)
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 2, 3])
})

test('a helpdesk that does not answer delays a burst by a second, and what comes later not at all', async () => {
  const stage = new Stage()
  stage.answer = () => new Promise(() => undefined)
  for (const id of [1, 5, 3]) stage.comes(id)
  await stage.clock.advance(1500)
  stage.comes(7)
  await stage.clock.advance(0)
  assert.deepEqual(stage.started, [
    { id: 1, at: 0, waited: 0 },
    { id: 3, at: 1000, waited: 1000 },
    { id: 5, at: 1000, waited: 1000 },
    { id: 7, at: 1500, waited: 0 },
  ])
  assert.equal(stage.questions.length, 1)
})

test('callbacks that come while the database does not answer are put in order', async () => {
  const stage = new Stage()
  stage.written = [1, 2, 3, 4, 5]
  const stall = Promise.withResolvers<undefined>()
  stage.read = (found) => stall.promise.then(() => found)
  for (const id of [1, 3]) stage.comes(id)
  await stage.clock.advance(3000)
  for (const id of [5, 4]) stage.comes(id, { writtenMsAgo: 3000 })
  await stage.clock.advance(300)
  stall.resolve(undefined)
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 3, 4, 5])
})

test('a process that stood still waits for the callbacks that came meanwhile', async () => {
  const stage = new Stage()
  stage.written = [1, 2, 3]
  for (const id of [1, 3]) stage.comes(id)
  await stage.clock.advance(10)
  stage.clock.freeze(5000)
  await stage.clock.advance(10)
  assert.deepEqual(stage.ids, [1])
  stage.comes(2, { writtenMsAgo: 5000 })
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 2, 3])
})

test('a process that stood still at the end of a wait reads what came meanwhile', async () => {
  const stage = new Stage()
  stage.written = [1, 2, 3]
  for (const id of [1, 3]) stage.comes(id)
  await stage.clock.advance(150)
  stage.clock.freeze(1280)
  await stage.clock.advance(5)
  stage.comes(2, { writtenMsAgo: 1300 })
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 2, 3])
})

test('a process that stood still during a question waits for the answer', async () => {
  const stage = new Stage()
  stage.written = [1, 3, 5]
  const asked = Promise.withResolvers<undefined>()
  stage.answer = (found) => asked.promise.then(() => found)
  for (const id of [1, 5]) stage.comes(id)
  await stage.clock.advance(10)
  stage.clock.freeze(5000)
  await stage.clock.advance(0)
  stage.comes(3, { writtenMsAgo: 5000 })
  await stage.clock.advance(10)
  asked.resolve(undefined)
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 3, 5])
})

test('a process that stood still during a question may read callbacks before its timers run', async () => {
  const stage = new Stage()
  stage.written = [1, 3, 5, 7]
  const asked = Promise.withResolvers<undefined>()
  stage.answer = (found) => asked.promise.then(() => found)
  for (const id of [1, 7]) stage.comes(id)
  await stage.clock.advance(10)
  stage.clock.freeze(5000)
  for (const id of [5, 3]) stage.comes(id, { writtenMsAgo: 5000 })
  await stage.clock.advance(10)
  asked.resolve(undefined)
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 3, 5, 7])
})

test('a message that is refused is not waited for once its callback came', async () => {
  const stage = new Stage()
  stage.written = [1, 2, 3]
  for (const id of [1, 3]) stage.comes(id)
  await stage.clock.advance(10)
  stage.order.skip(route, commandOf(2, 7))
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 3])
})

test('when five callbacks wait, further ones are accepted before their turn, and start in their turn', async () => {
  const stage = new Stage()
  stage.written = [1, 2, 3, 4, 5, 6, 7, 8, 9]
  for (const id of [1, 9, 8, 7, 3, 6, 5, 4]) stage.comes(id)
  await stage.clock.advance(100)
  assert.deepEqual([stage.early, stage.ids], [[5, 4], [1]])
  stage.comes(2)
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('conversations do not wait for each other', async () => {
  const stage = new Stage()
  stage.written = [1, 2, 3]
  for (const id of [1, 3]) stage.comes(id)
  stage.comes(4, { conversationId: 8 })
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 4])
})

test('a message is accepted when the one before it is accepted', async () => {
  const stage = new Stage()
  const first = Promise.withResolvers<undefined>()
  const accepted: number[] = []
  const accept = (id: number, work: Promise<unknown>) => () => work.then(() => accepted.push(id))
  void stage.order.inTurn(route, commandOf(1, 7), justNow, accept(1, first.promise))
  void stage.order.inTurn(route, commandOf(2, 7), justNow, accept(2, Promise.resolve()))
  await stage.clock.advance(0)
  assert.deepEqual(accepted, [])
  first.resolve(undefined)
  await stage.clock.advance(0)
  assert.deepEqual(accepted, [1, 2])
})

test('nothing waits after the end', async () => {
  const stage = new Stage()
  stage.written = [1, 2, 3]
  for (const id of [1, 3]) stage.comes(id)
  await stage.clock.advance(0)
  stage.order[Symbol.dispose]()
  await stage.clock.advance(0)
  assert.deepEqual(stage.ids, [1, 3])
  assert.equal(stage.clock.pending, 0)
})

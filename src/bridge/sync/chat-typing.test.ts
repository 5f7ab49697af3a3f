import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { ChatTyping, pauseMs, silenceMs } from './chat-typing.ts'
import type { ShownResult as Answer, TypingResult } from './chat-typing.ts'

class Stage {
  readonly clock = new ManualClock()
  /** What the helpdesk was asked to show, with the time. */
  readonly asked: { isTyping: boolean; at: number }[] = []
  readonly counted: TypingResult[] = []
  isIdle = false
  /** The answers of the helpdesk; after the last one it answers "ok". */
  answers: (Answer | Promise<Answer>)[] = []
  readonly typing = new ChatTyping({
    show: (isTyping) => {
      this.asked.push({ isTyping, at: this.clock.monotonic() })
      return Promise.resolve(this.answers.shift() ?? 'ok')
    },
    count: (result) => this.counted.push(result),
    onIdle: () => {
      this.isIdle = true
    },
    clock: this.clock,
  })

  get states(): boolean[] {
    return this.asked.map(({ isTyping }) => isTyping)
  }

  async types(who = 'bob'): Promise<void> {
    this.typing.notice(who, true)
    await this.clock.advance(0)
  }

  async stops(who = 'bob'): Promise<void> {
    this.typing.notice(who, false)
    await this.clock.advance(0)
  }
}

test('typing and its end are shown, and the chat is forgotten when the next request may be made', async () => {
  const stage = new Stage()
  await stage.types()
  await stage.clock.advance(pauseMs)
  await stage.stops()
  assert.deepEqual(
    [stage.states, stage.counted],
    [
      [true, false],
      ['ok', 'ok'],
    ],
  )
  await stage.clock.advance(pauseMs - 1)
  assert.ok(!stage.isIdle)
  await stage.clock.advance(1)
  assert.ok(stage.isIdle)
})

test('the helpdesk gets at most one request per 4 s, and the end still follows', async () => {
  const stage = new Stage()
  await stage.types()
  await stage.clock.advance(1000)
  await stage.types()
  await stage.stops()
  assert.deepEqual(stage.states, [true])
  await stage.clock.advance(3000)
  assert.deepEqual(stage.asked, [
    { isTyping: true, at: 0 },
    { isTyping: false, at: pauseMs },
  ])
  assert.deepEqual(stage.counted, ['ok', 'throttled', 'ok'])
})

test('a person who stops and types again within 4 s is shown as typing all the time', async () => {
  const stage = new Stage()
  await stage.types()
  await stage.stops()
  await stage.types()
  await stage.clock.advance(pauseMs)
  assert.deepEqual([stage.states, stage.counted], [[true], ['ok', 'throttled', 'throttled']])
})

test('typing that WhatsApp repeats is shown again, because the dashboard forgets it', async () => {
  const stage = new Stage()
  for (let round = 0; round < 5; round++) {
    await stage.types()
    await stage.clock.advance(10_000)
  }
  assert.deepEqual([stage.states, stage.counted], [Array(5).fill(true), Array(5).fill('ok')])
})

test('typing ends after a silence, which is not counted; also after notices that were throttled', async () => {
  const stage = new Stage()
  await stage.types()
  await stage.clock.advance(3000)
  await stage.types()
  await stage.clock.advance(silenceMs - 1)
  assert.deepEqual(stage.states, [true])
  await stage.clock.advance(1)
  assert.deepEqual(
    [stage.states, stage.counted],
    [
      [true, false],
      ['ok', 'throttled'],
    ],
  )
  await stage.clock.advance(pauseMs)
  assert.ok(stage.isIdle)
})

test('while the helpdesk is slow, one request is under way and the newest state follows', async () => {
  const stage = new Stage()
  const slow = Promise.withResolvers<Answer>()
  stage.answers = [slow.promise]
  await stage.types()
  for (let round = 0; round < 50; round++) {
    await stage.clock.advance(5000)
    await stage.stops()
    await stage.types()
  }
  await stage.stops()
  assert.deepEqual(stage.states, [true])
  slow.resolve('ok')
  await stage.clock.advance(0)
  await stage.clock.advance(0)
  assert.deepEqual(stage.states, [true, false])
  assert.equal(stage.counted.length, 102)
  assert.equal(stage.counted.filter((result) => result === 'throttled').length, 100)
})

test('a message ends the typing of its author, once', async () => {
  const stage = new Stage()
  await stage.types()
  stage.typing.wrote('eve')
  stage.typing.wrote('bob')
  stage.typing.wrote('bob')
  await stage.clock.advance(pauseMs)
  assert.deepEqual([stage.states, stage.counted], [[true, false], ['ok']])
})

test('a group types as long as one member types', async () => {
  const stage = new Stage()
  await stage.types('bob')
  await stage.types('eve')
  await stage.stops('bob')
  await stage.clock.advance(pauseMs)
  assert.deepEqual(stage.states, [true])
  await stage.stops('eve')
  assert.deepEqual(
    [stage.states, stage.counted],
    [
      [true, false],
      ['ok', 'throttled', 'throttled', 'ok'],
    ],
  )
})

test('an end that fails is repeated while agents may see the typing, and then no more', async () => {
  const stage = new Stage()
  stage.answers = ['ok', ...Array<Answer>(99).fill('ds_error')]
  await stage.types()
  await stage.clock.advance(pauseMs)
  await stage.stops()
  await stage.clock.advance(60_000)
  assert.deepEqual(stage.counted, ['ok', 'ds_error'])
  assert.deepEqual(stage.states, [true, ...Array<boolean>(7).fill(false)])
  assert.ok((stage.asked.at(-1)?.at ?? 0) < 30_000)
  assert.ok(stage.isIdle)
})

test('typing whose request failed may be visible, so its end is sent', async () => {
  const stage = new Stage()
  stage.answers = ['ds_error']
  await stage.types()
  await stage.clock.advance(silenceMs)
  assert.deepEqual([stage.states, stage.counted], [[true, false], ['ds_error']])
})

test('typing that is shown nowhere has no end', async () => {
  for (const answer of ['no_contact', 'no_conv'] as const) {
    const stage = new Stage()
    stage.answers = [answer]
    await stage.types()
    stage.typing.end()
    await stage.clock.advance(silenceMs)
    assert.deepEqual([stage.states, stage.counted], [[true], [answer]])
    assert.ok(stage.isIdle)
  }
})

test('when the connection ends, typing ends with the next request, also while its request is under way', async () => {
  for (const isUnderWay of [false, true]) {
    const stage = new Stage()
    const first = Promise.withResolvers<Answer>()
    stage.answers = [first.promise]
    await stage.types()
    if (isUnderWay) stage.typing.end()
    first.resolve('ok')
    await stage.clock.advance(0)
    if (!isUnderWay) stage.typing.end()
    await stage.clock.advance(pauseMs)
    assert.deepEqual(stage.states, [true, false])
  }
})

test('at the end of an instance typing ends at once, after the request under way, and nothing more is counted', async () => {
  const stage = new Stage()
  const first = Promise.withResolvers<Answer>()
  stage.answers = [first.promise]
  await stage.types()
  await stage.stops()
  const finished = stage.typing.finish()
  await stage.types()
  assert.deepEqual(stage.states, [true])
  first.resolve('ok')
  await finished
  await stage.clock.advance(60_000)
  assert.deepEqual([stage.asked.map(({ at }) => at), stage.states, stage.counted], [[0, 0], [true, false], []])
  assert.equal(stage.clock.pending, 0)
})

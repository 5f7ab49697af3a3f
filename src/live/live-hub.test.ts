import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { RecordedLog } from '../../test/harness/logs.ts'
import { LiveHub } from './live-hub.ts'
import type { LiveSink } from '../core/live.ts'

/** A listener that reads everything, or nothing. */
class Ear implements LiveSink {
  readonly texts: string[] = []
  isReading = true
  isEnded = false
  #unread = 0

  get waiting(): number {
    return this.isReading ? 0 : this.#unread
  }

  write(text: string): void {
    this.texts.push(text)
    this.#unread += text.length
  }

  end(text: string): void {
    this.texts.push(text)
    this.isEnded = true
  }

  /** The kinds and data, without the comments. */
  get heard(): [kind: string, data: unknown][] {
    const events = this.texts.join('').matchAll(/^event: (\w+)\ndata: (.*)$/gm)
    return [...events].map(([, kind = '', data = '']) => [kind, JSON.parse(data)])
  }

  get ids(): string[] {
    return [...this.texts.join('').matchAll(/^id: (.*)$/gm)].map(([, id = '']) => id)
  }
}

function setUp() {
  const clock = new ManualClock()
  const logs = new RecordedLog()
  const hub = new LiveHub({ version: '1.0.0', maxListeners: 32, clock, log: logs.log })
  const join = (lastId?: string, { session = null, ear = new Ear() }: { session?: string | null; ear?: Ear } = {}) => {
    const leave = hub.join(ear, lastId, session)
    return { ear, leave }
  }
  const say = (n: number) => {
    hub.publish('alert', () => ({ n }))
  }
  const numbers = (ear: Ear) =>
    ear.heard.filter(([kind]) => kind === 'alert').map(([, data]) => (data as { n: number }).n)
  return { clock, logs, hub, join, say, numbers }
}

describe('a listener', () => {
  test('hears hello first, and then every event', () => {
    const { join, say } = setUp()
    const { ear } = join()
    say(1)
    const [hello, alert] = ear.heard
    assert.deepEqual([hello?.[0], alert], ['hello', ['alert', { n: 1 }]])
    assert.match(JSON.stringify(hello?.[1]), /^\{"version":"1\.0\.0","boot_id":"[0-9a-f]+"\}$/)
  })

  test('that lost its connection gets what it missed, once and in order', () => {
    const { join, say, numbers } = setUp()
    const { ear, leave } = join()
    say(1)
    leave()
    say(2)
    say(3)
    const { ear: again } = join(ear.ids.at(-1))
    say(4)
    assert.deepEqual(numbers(again), [2, 3, 4])
    assert.deepEqual(
      again.heard.filter(([kind]) => kind === 'reset'),
      [],
    )
  })

  test('that missed nothing gets nothing again', () => {
    const { join, say, numbers } = setUp()
    const { ear } = join()
    say(1)
    say(2)
    assert.deepEqual(numbers(join(ear.ids.at(-1)).ear), [])
  })

  test('that heard only hello gets what it missed, too', () => {
    const { join, say, numbers } = setUp()
    const { ear, leave } = join()
    leave()
    say(1)
    assert.deepEqual(numbers(join(ear.ids.at(-1)).ear), [1])
  })

  test('that is cut off right after the greeting of a second connection misses nothing with the third', () => {
    const { join, say, numbers } = setUp()
    const { ear, leave } = join()
    say(1)
    leave()
    say(2)
    const second = join(ear.ids.at(-1))
    second.leave()
    // Only the greeting arrived.
    assert.deepEqual(numbers(join(second.ear.ids[0]).ear), [2])
  })

  test('that missed more than 500 events is told to start anew', () => {
    const { join, say, numbers } = setUp()
    const { ear, leave } = join()
    say(0)
    const id = ear.ids.at(-1)
    leave()
    for (let n = 1; n <= 500; n++) say(n)
    assert.equal(numbers(join(id).ear).length, 500)
    say(501)
    const late = join(id).ear
    assert.deepEqual(
      late.heard.map(([kind]) => kind),
      ['hello', 'reset'],
    )
  })

  test('that missed much is told to start anew, before it could be cut off for what it cannot have read yet', () => {
    const { hub, join } = setUp()
    const { ear, leave } = join()
    leave()
    const text = 'x'.repeat(1000)
    const busy = () => {
      const reader = new Ear()
      // Nothing has reached it when the greeting is written.
      reader.isReading = false
      return join(ear.ids[0], { ear: reader }).ear
    }
    for (let n = 0; n < 100; n++) hub.publish('alert', () => ({ text }))
    assert.deepEqual([busy().heard.length, busy().isEnded], [101, false])
    for (let n = 0; n < 200; n++) hub.publish('alert', () => ({ text }))
    const late = busy()
    assert.deepEqual([late.heard.map(([kind]) => kind), late.isEnded], [['hello', 'reset'], false])
  })

  test('with an id of another process, or with a senseless one, is told to start anew', () => {
    const { join, say } = setUp()
    join()
    say(1)
    for (const id of ['0123456789ab-1', 'nonsense', '-', `${'9'.repeat(400)}-1`, '0123456789ab-99999999999999999999']) {
      assert.deepEqual(
        join(id).ear.heard.map(([kind]) => kind),
        ['hello', 'reset'],
        id,
      )
    }
  })

  test('with an id of the future of this process is told to start anew', () => {
    const { join } = setUp()
    const { ear } = join()
    const [boot] = (ear.ids[0] ?? '').split('-')
    assert.equal(join(`${boot}-7`).ear.heard.at(-1)?.[0], 'reset')
  })

  test('that does not read is cut off, and the others go on', () => {
    const { hub, join } = setUp()
    const { ear: slow } = join()
    const { ear: fast } = join()
    slow.isReading = false
    const text = 'x'.repeat(100_000)
    for (let n = 0; n < 4; n++) hub.publish('alert', () => ({ text }))
    assert.deepEqual([slow.isEnded, slow.heard.at(-1)], [true, ['bye', { reason: 'slow' }]])
    assert.deepEqual([fast.isEnded, fast.heard.length], [false, 5])
    assert.equal(slow.heard.filter(([kind]) => kind === 'alert').length, 3)
  })

  test('gets a comment every 15 s', async () => {
    const { clock, join } = setUp()
    const { ear } = join()
    const comments = () => ear.texts.filter((text) => text === ': alive\n\n').length
    await clock.advance(14_999)
    assert.equal(comments(), 0)
    await clock.advance(1)
    assert.equal(comments(), 1)
    await clock.advance(30_000)
    assert.equal(comments(), 3)
  })

  test('is told that the service stops', () => {
    const { hub, join, clock } = setUp()
    const { ear } = join()
    hub.publishLatest('instance', 'a', () => ({}), 'a')
    hub.close()
    assert.deepEqual([ear.heard.at(-1), ear.isEnded, clock.pending], [['bye', { reason: 'stopping' }], true, 0])
    assert.throws(() => join(), { code: 'SERVICE_STOPPING' })
  })
})

test('the thirty-third listener is refused, until another one leaves', () => {
  const { join } = setUp()
  const all = Array.from({ length: 32 }, () => join())
  assert.throws(() => join(), { code: 'SERVICE_TOO_MANY_LISTENERS' })
  all[5]?.leave()
  all[5]?.leave()
  join()
  assert.throws(() => join(), { code: 'SERVICE_TOO_MANY_LISTENERS' })
})

test('with all places taken, a newer listener of a session takes the place of the oldest one of that session', () => {
  const { join } = setUp()
  const others = Array.from({ length: 30 }, () => join(undefined, { session: 'another' }).ear)
  const [first, second] = [join(undefined, { session: 'mine' }).ear, join(undefined, { session: 'mine' }).ear]
  assert.deepEqual([first.isEnded, second.isEnded], [false, false])
  const third = join(undefined, { session: 'mine' }).ear
  assert.deepEqual([first.isEnded, first.heard.at(-1)], [true, ['bye', { reason: 'full' }]])
  assert.deepEqual([second.isEnded, third.isEnded, others.some(({ isEnded }) => isEnded)], [false, false, false])
  assert.throws(() => join(), { code: 'SERVICE_TOO_MANY_LISTENERS' })
  assert.throws(() => join(undefined, { session: 'a third' }), { code: 'SERVICE_TOO_MANY_LISTENERS' })
})

describe('without a listener', () => {
  test('nothing is read', () => {
    const { hub, clock } = setUp()
    let reads = 0
    hub.publish('alert', () => reads++)
    hub.publishLatest('instance', 'a', () => reads++, 'a')
    assert.deepEqual([reads, hub.isCollecting, clock.pending], [0, false, 0])
  })

  test('events are kept for a minute; after that a listener is told to start anew', async () => {
    const { clock, hub, join, say, numbers } = setUp()
    const { ear, leave } = join()
    say(1)
    const id = ear.ids.at(-1)
    leave()
    await clock.advance(59_999)
    say(2)
    const second = join(id)
    assert.deepEqual(numbers(second.ear), [2])
    second.leave()
    await clock.advance(60_000)
    assert.equal(hub.isCollecting, false)
    say(3)
    assert.deepEqual(
      join(second.ear.ids.at(-1)).ear.heard.map(([kind]) => kind),
      ['hello', 'reset'],
    )
    assert.deepEqual(clock.pending, 1, 'only the comment is planned')
  })

  test('for less than a minute, the hub goes on collecting for the next listener', async () => {
    const { clock, hub, join } = setUp()
    join().leave()
    await clock.advance(30_000)
    join()
    await clock.advance(45_000)
    assert.equal(hub.isCollecting, true)
  })
})

describe('another node that listens', () => {
  test('hears what happens here and a comment every 15 s, but not what this node has heard', async () => {
    const { hub, say, clock } = setUp()
    const ear = new Ear()
    const leave = hub.joinNode(ear)
    say(1)
    hub.tellHere('alert', { n: 2 })
    await clock.advance(15_000)
    assert.deepEqual(ear.texts, ['event: alert\ndata: {"n":1}\n\n', ': alive\n\n'])
    leave()
    assert.deepEqual([hub.isCollecting, clock.pending], [false, 0])
  })

  test('is let go when the service stops, and not let in any more', () => {
    const { hub, clock } = setUp()
    const ear = new Ear()
    hub.joinNode(ear)
    hub.close()
    assert.deepEqual([ear.heard, ear.isEnded, clock.pending], [[['bye', { reason: 'stopping' }]], true, 0])
    assert.throws(() => hub.joinNode(new Ear()), { code: 'SERVICE_STOPPING' })
  })
})

describe('changes of one key', () => {
  test('are told at once, and then at most once a second, with the latest data', async () => {
    const { clock, hub, join } = setUp()
    const { ear } = join()
    let value = 0
    let reads = 0
    const change = (key = 'a') => {
      value++
      const read = () => {
        reads++
        return { key, value }
      }
      hub.publishLatest('instance', key, read, key)
    }
    const told = () =>
      ear.heard.filter(([kind]) => kind === 'instance').map(([, data]) => (data as { value: number }).value)
    change()
    change()
    change()
    assert.deepEqual(told(), [1])
    change('b')
    assert.deepEqual(told(), [1, 4])
    await clock.advance(999)
    assert.deepEqual(told(), [1, 4])
    await clock.advance(1)
    assert.deepEqual([told(), reads], [[1, 4, 4], 3])
    change()
    assert.deepEqual(told(), [1, 4, 4], 'the change a moment ago was told at the end of its second')
    await clock.advance(1000)
    assert.deepEqual(told(), [1, 4, 4, 5])
    await clock.advance(5000)
    change()
    assert.deepEqual(told(), [1, 4, 4, 5, 6])
  })

  test('are told of an instance and of a job of the same name apart', () => {
    const { hub, join } = setUp()
    const { ear } = join()
    hub.publishLatest('instance', 'a', () => 1, 'a')
    hub.publishLatest('job', 'a', () => 2, 'a')
    assert.deepEqual(ear.heard.slice(1), [
      ['instance', 1],
      ['job', 2],
    ])
  })
})

test('what is gone by the time it would be told is not told, and a failure to read it is logged only', () => {
  const { hub, join, logs } = setUp()
  const { ear } = join()
  hub.publish('instance', () => undefined)
  hub.publish('instance', () => {
    throw new Error('broken')
  })
  assert.equal(ear.heard.length, 1)
  assert.equal(logs.withMessage('an event for the dashboard could not be made').length, 1)
})

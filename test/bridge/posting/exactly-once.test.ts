import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { BridgeBed, desk, message, person } from '../inbound/harness/bridge-bed.ts'
import { eventAbout } from '../inbound/harness/event-about.ts'
import type { Posted } from '../harness/scripted-helpdesk.ts'

function lost(): never {
  throw new DownstreamError('transient', 'no answer', { mayHaveHappened: true })
}

describe('exactly once', () => {
  test('the happy path is one POST and no other call', async () => {
    await using bed = await BridgeBed.open()
    await bed.receive(message('one'))
    await bed.posted(1)
    await bed.drained()
    bed.helpdesk.calls.length = 0
    for (const text of ['two', 'three', 'four']) await bed.receive(message(text))
    await bed.posted(4)
    await bed.drained()
    assert.deepEqual(bed.helpdesk.calls, ['post', 'post', 'post'])
  })

  test('an answer that is lost is found again, not posted again', async () => {
    await using bed = await BridgeBed.open()
    let losses = 1
    bed.helpdesk.afterPost = () => {
      if (losses-- > 0) lost()
    }
    await bed.receive(message('one'))
    await bed.receive(message('two'))
    await bed.posted(2)
    await bed.drained()
    assert.deepEqual(bed.helpdesk.contents, ['one', 'two'])
  })

  const commitLate = async (bed: BridgeBed) => {
    await bed.receive(message('zero'))
    await bed.posted(1)
    const once = bed.helpdesk.commit.bind(bed.helpdesk)
    let late: (() => Promise<Posted>) | undefined
    bed.helpdesk.commit = (...args) => {
      bed.helpdesk.commit = once
      late = () => once(...args)
      lost()
    }
    await bed.receive(message('late'))
    await bed.receive(message('after it'))
    await waitUntil('the post is lost', () => late !== undefined)
    for (let passed = 0; passed < 15_000; passed += 500) await bed.pass(500)
    await late?.()
    await bed.postedWithin(3, 10_000)
    await bed.drained()
    return bed.helpdesk.contents
  }

  test('a post that is committed 15 s late is waited for', async () => {
    await using bed = await BridgeBed.open()
    assert.deepEqual(await commitLate(bed), ['zero', 'late', 'after it'])
  })

  test('without that wait it would be posted twice', async () => {
    await using bed = await BridgeBed.open({ lateCommitMs: 0 })
    assert.deepEqual(await commitLate(bed), ['zero', 'late', 'after it', 'late'])
  })

  test('a post that breaks off after a minute is waited for from then on', async () => {
    await using bed = await BridgeBed.open()
    await bed.receive(message('zero'))
    await bed.posted(1)
    const once = bed.helpdesk.commit.bind(bed.helpdesk)
    const broken = Promise.withResolvers<never>()
    let late: (() => Promise<Posted>) | undefined
    bed.helpdesk.commit = (...args) => {
      bed.helpdesk.commit = once
      late = () => once(...args)
      return broken.promise
    }
    await bed.receive(message('slow'))
    await waitUntil('the post is under way', () => late !== undefined)
    await bed.pass(60_000)
    broken.reject(new DownstreamError('transient', 'answered 502', { mayHaveHappened: true }))
    for (let passed = 0; passed < 15_000; passed += 500) await bed.pass(500)
    await late?.()
    await bed.drainedWithin(10_000)
    assert.deepEqual(bed.helpdesk.contents, ['zero', 'slow'])
  })

  test('a post that never was is repeated 20 s after it began', async () => {
    await using bed = await BridgeBed.open()
    let losses = 1
    bed.helpdesk.script = (call) => {
      if (call === 'post' && losses-- > 0) lost()
    }
    const began = bed.clock.now()
    await bed.receive(message('one'))
    await bed.postedWithin(1, 60_000)
    assert.ok(bed.clock.now() - began >= 20_000)
    await bed.drained()
    assert.deepEqual(bed.helpdesk.contents, ['one'])
  })

  test('the same message delivered under another envelope is posted once', async () => {
    await using bed = await BridgeBed.open()
    const one = message('one')
    await bed.receive(one)
    await bed.posted(1)
    await bed.receive(one)
    await bed.drained()
    assert.deepEqual(bed.helpdesk.contents, ['one'])
    assert.equal(bed.logs.withMessage('message from the network handled').at(-1)?.['result'], 'duplicate')
  })

  test('the same id from another person is another message', async () => {
    await using bed = await BridgeBed.open()
    await bed.receive(message('one', { id: 'SAME' }))
    await bed.receive(message('two', { id: 'SAME', chat: person('5511900001111') }))
    await bed.posted(2)
    await bed.drained()
  })

  test('another destination gets its own copy of what was not delivered to the first', async () => {
    await using bed = await BridgeBed.open()
    let losses = 1
    bed.helpdesk.script = (call, { key }) => {
      if (call === 'post' && key === desk.key && losses-- > 0) lost()
    }
    await bed.receive(message('one'))
    await waitUntil('the post is lost', () => losses === 0)
    bed.routes.set('a', { ...desk, key: 'http://other|1|1', baseUrl: 'http://other' })
    await bed.restart()
    await bed.postedWithin(1, 60_000)
    assert.equal(bed.helpdesk.messages[0]?.destination, 'http://other|1|1')
    await bed.drained()
  })

  test('a message that goes to another destination after a failure is known there', async () => {
    await using bed = await BridgeBed.open()
    let failures = 0
    bed.helpdesk.script = (call, { key }) => {
      if (call !== 'post' || key !== desk.key) return
      failures += 1
      throw new DownstreamError('transient', 'answered 503')
    }
    const first = message('one')
    await bed.receive(first)
    await waitUntil('the post has failed', () => failures === 1)
    bed.routes.set('a', { ...desk, key: 'http://other|1|1', baseUrl: 'http://other' })
    await bed.postedWithin(1, 60_000)
    await bed.receive(eventAbout('edit', first))
    await bed.posted(2)
    await bed.drained()
    const [original, edit] = bed.helpdesk.messages
    assert.equal(edit?.inReplyTo, original?.id)
  })
})

describe('one conversation', () => {
  /** The process ends while the helpdesk opens a conversation, which it commits 14 s later. */
  const crashWhileOpening = async (bed: BridgeBed) => {
    const open = bed.helpdesk.openConversation.bind(bed.helpdesk)
    const answer = Promise.withResolvers<never>()
    let commit: (() => Promise<unknown>) | undefined
    bed.helpdesk.openConversation = (...args) => {
      bed.helpdesk.openConversation = open
      commit = () => open(...args)
      return answer.promise
    }
    await bed.receive(message('one'))
    await waitUntil('the conversation is being opened', () => commit !== undefined)
    const restarted = bed.restart({ crash: true })
    answer.reject(new DownstreamError('transient', 'the process is dead', { mayHaveHappened: true }))
    await restarted
    await bed.receive(message('two'))
    for (let passed = 0; passed < 14_000; passed += 500) await bed.pass(500)
    await commit?.()
    await bed.postedWithin(2, 30_000)
    await bed.drained()
    assert.deepEqual(bed.helpdesk.contents, ['one', 'two'])
    return bed.helpdesk.conversations.length
  }

  test('is opened when the process ends while the first one is on its way', async () => {
    await using bed = await BridgeBed.open()
    assert.equal(await crashWhileOpening(bed), 1)
  })

  test('without waiting for it there would be two', async () => {
    await using bed = await BridgeBed.open({ lateCommitMs: 0 })
    assert.equal(await crashWhileOpening(bed), 2)
  })

  test('each is what accounts that share an inbox and a group open at the same moment', async () => {
    await using bed = await BridgeBed.open({ instances: ['a', 'b'] })
    const chat = { kind: 'group' as const, id: '120363000000000001' }
    let looks = 0
    bed.helpdesk.script = async (call) => {
      if (call !== 'ensureConversation') return
      if (++looks === 1) await bed.settle()
      else await waitUntil('the first one is there', () => bed.helpdesk.conversations.length === 1)
    }
    await Promise.all(['a', 'b'].map((instance) => bed.receive(message('hello', { chat }), instance)))
    await bed.posted(2)
    await bed.drained()
    const used = bed.helpdesk.messages.map(({ conversationId }) => conversationId)
    assert.equal(new Set(used).size, 2)
    assert.equal(bed.helpdesk.contacts.length, 1)
  })

  test('that was refused is opened at the next attempt, without the wait', async () => {
    await using bed = await BridgeBed.open()
    const open = bed.helpdesk.openConversation.bind(bed.helpdesk)
    let isRefused = false
    bed.helpdesk.openConversation = () => {
      bed.helpdesk.openConversation = open
      isRefused = true
      return Promise.reject(new DownstreamError('transient', 'busy'))
    }
    await bed.receive(message('one'))
    await waitUntil('the opening is refused', () => isRefused)
    await bed.postedWithin(1, 3000)
  })
})

describe('lanes', () => {
  test('chats whose message is being looked for leave the way free for others', async () => {
    await using bed = await BridgeBed.open()
    let losses = 16
    bed.helpdesk.script = (call) => {
      if (call === 'post' && losses-- > 0) lost()
    }
    const chats = Array.from({ length: 16 }, (_, index) => person(`55119000010${index}`))
    for (const chat of chats) await bed.receive(message('lost', { chat }))
    await waitUntil('all are looked for', () => bed.helpdesk.calls.filter((call) => call === 'findPosted').length >= 16)
    await bed.receive(message('fine'))
    await bed.posted(1)
    assert.deepEqual(bed.helpdesk.contents, ['fine'])
  })

  test('a chat keeps its order through failures and restarts, and opens one conversation', async () => {
    await using bed = await BridgeBed.open()
    let tick = 0
    bed.helpdesk.script = (call) => {
      if (call !== 'probe' && ++tick % 3 === 0) throw new DownstreamError('transient', 'busy')
    }
    bed.helpdesk.afterPost = () => {
      if (++tick % 4 === 0) lost()
    }
    const wanted = Array.from({ length: 12 }, (_, index) => `m${index}`)
    for (const text of wanted.slice(0, 6)) await bed.receive(message(text))
    await bed.postedWithin(2, 60_000, 2000)
    await bed.restart()
    for (const text of wanted.slice(6)) await bed.receive(message(text))
    await bed.postedWithin(12, 600_000, 2000)
    assert.deepEqual(bed.helpdesk.contents, wanted)
    assert.equal(bed.helpdesk.conversations.length, 1)
  })

  test('a long backlog is ids only and goes out in order', async () => {
    await using bed = await BridgeBed.open()
    bed.helpdesk.script = () => {
      throw new DownstreamError('destination', 'away')
    }
    const wanted = Array.from({ length: 1500 }, (_, index) => `m${index}`)
    const rows = []
    for (const text of wanted) rows.push(await bed.store(message(text)))
    await bed.restart()
    await bed.settle()
    assert.equal(bed.inbound.counts().pending, 1500)
    bed.helpdesk.script = () => undefined
    bed.set.held.releaseAll()
    await waitUntil('all are posted', () => bed.helpdesk.messages.length === 1500)
    assert.deepEqual(bed.helpdesk.contents, wanted)
    await bed.drained()
  })

  test('a person known by two addresses becomes one lane in the order of arrival', async () => {
    await using bed = await BridgeBed.open()
    bed.routes.delete('a')
    const lidOnly = { kind: 'person' as const, phone: null, lid: '99887766' }
    const both = { kind: 'person' as const, phone: '5511988887777', lid: '99887766' }
    await bed.receive(message('by lid', { chat: lidOnly }))
    await bed.receive(message('by phone', { chat: person('5511988887777') }))
    await bed.receive(message('by lid again', { chat: lidOnly }))
    await bed.receive(message('by both', { chat: both }))
    // The first message is being worked on.
    await waitUntil('the other three wait in one queue', () => {
      const { chats, longest } = bed.inbound.queues()
      return chats === 1 && longest === 3
    })
    bed.routes.set('a', desk)
    bed.set.held.releaseAll()
    await bed.posted(4)
    assert.deepEqual(bed.helpdesk.contents, ['by lid', 'by phone', 'by lid again', 'by both'])
    assert.equal(bed.helpdesk.conversations.length, 1)
    assert.equal(bed.helpdesk.contacts.length, 1)
  })
})

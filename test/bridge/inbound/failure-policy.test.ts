import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import type { DownstreamFailure } from '../../../src/core/downstream.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { BridgeBed, desk, message, person } from './harness/bridge-bed.ts'

const hour = 3_600_000

function fail(failure: DownstreamFailure, mayHaveHappened = false): never {
  throw new DownstreamError(failure, `it says ${failure}`, { mayHaveHappened })
}

describe('failures by class', () => {
  test('a broken destination is held for an hour, probed soon, later every 30 s, and nothing is parked', async () => {
    await using bed = await BridgeBed.open({ instances: ['a', 'b'] })
    const other = { ...desk, key: 'http://other|1|1', baseUrl: 'http://other' }
    bed.routes.set('b', other)
    let broken = true
    bed.helpdesk.script = (_call, { key }) => {
      if (broken && key === desk.key) fail('destination')
    }
    for (let index = 0; index < 5; index++)
      await bed.receive(message(`m${index}`, { chat: person(`55119000${index}`) }))
    await bed.receive(message('to the other one'), 'b')
    await bed.posted(1)
    assert.deepEqual(bed.helpdesk.contents, ['to the other one'])
    await bed.settle()
    const before = bed.helpdesk.calls.length
    for (let passed = 0; passed < hour; passed += 30_000) await bed.pass(30_000)
    // After 1, 3, 7, 15 and 31 s, and from then on every 30 s.
    assert.equal(bed.helpdesk.calls.length - before, 123, 'the probes and nothing else')
    assert.deepEqual(bed.inbound.counts(), { pending: 5, parked: 0 })
    assert.deepEqual(
      bed.set.held.list().map(({ destination, reason }) => [destination, reason]),
      [[desk.key, 'it says destination']],
    )
    assert.equal(bed.logs.withMessage('nothing can be delivered there; messages wait').length, 1)
    broken = false
    await bed.pass(30_000)
    await bed.posted(6)
    await bed.drained()
    assert.deepEqual(bed.set.held.list(), [])
  })

  test('a wrong token holds up only those who use it', async () => {
    await using bed = await BridgeBed.open({ instances: ['a', 'b'] })
    const wrong = { ...desk, apiToken: 'wrong' }
    bed.routes.set('a', wrong)
    bed.helpdesk.script = (_call, { apiToken }) => {
      if (apiToken === wrong.apiToken) fail('destination')
    }
    await bed.receive(message('refused'), 'a')
    await bed.settle()
    assert.deepEqual(
      bed.set.held.list().map(({ destination }) => destination),
      [desk.key],
    )
    await bed.receive(message('fine'), 'b')
    await bed.posted(1)
    assert.deepEqual(bed.helpdesk.contents, ['fine'])
  })

  test('an instance without a destination waits, and goes on as soon as there is one', async () => {
    await using bed = await BridgeBed.open()
    bed.routes.delete('a')
    await bed.receive(message('one'))
    await bed.receive(message('two', { chat: person('551190001') }))
    await bed.settle()
    assert.equal(bed.logs.withMessage('nothing can be delivered there; messages wait').length, 1)
    await bed.restart()
    await bed.settle()
    bed.routes.set('a', desk)
    bed.set.held.releaseAll()
    await bed.posted(2)
    await bed.drained()
  })

  test('an instance that is let go of leaves no hold behind, unless others wait there', async () => {
    await using bed = await BridgeBed.open({ instances: ['a', 'b', 'c'] })
    bed.routes.delete('c')
    bed.helpdesk.script = () => fail('destination')
    for (const instance of bed.instances) await bed.receive(message('one'), instance)
    await bed.settle()
    const held = () => bed.set.held.list().map(({ destination }) => destination)
    assert.equal(held().length, 2)
    await bed.leave('c')
    assert.deepEqual(held(), [desk.key])
    await bed.leave('a')
    assert.deepEqual(held(), [desk.key])
    await bed.leave('b')
    assert.deepEqual(held(), [])
    assert.equal(bed.clock.pending, 0)
  })

  test('a changed route releases a held destination at once', async () => {
    await using bed = await BridgeBed.open()
    bed.helpdesk.script = (_call, { key }) => {
      if (key === desk.key) fail('destination')
    }
    await bed.receive(message('one'))
    await bed.settle()
    bed.routes.set('a', { ...desk, key: 'http://new|1|1', baseUrl: 'http://new' })
    bed.set.held.releaseAll()
    await bed.posted(1)
    assert.equal(bed.helpdesk.messages[0]?.destination, 'http://new|1|1')
  })

  test('too many messages in a conversation: this chat waits a minute, others do not', async () => {
    await using bed = await BridgeBed.open()
    let floods = 1
    bed.helpdesk.script = (call) => {
      if (call === 'post' && floods-- > 0) fail('flood')
    }
    await bed.receive(message('first'))
    await bed.settle()
    await bed.receive(message('second'))
    await bed.receive(message('elsewhere', { chat: person('551190001') }))
    await bed.posted(1)
    await bed.pass(59_000)
    assert.deepEqual(bed.helpdesk.contents, ['elsewhere'])
    await bed.pass(1_000)
    await bed.posted(3)
    assert.deepEqual(bed.helpdesk.contents, ['elsewhere', 'first', 'second'])
  })

  test('a refusal without a reason is tried ten times, then parked; the next message goes on', async () => {
    await using bed = await BridgeBed.open()
    let tries = 0
    bed.helpdesk.script = (call) => {
      if (call === 'post' && tries++ < 10) fail('unexplained')
    }
    await bed.receive(message('refused'))
    await bed.receive(message('next'))
    await bed.postedWithin(1, hour, 10_000)
    assert.deepEqual(bed.helpdesk.contents, ['next'])
    assert.deepEqual(bed.inbound.counts(), { pending: 0, parked: 1 })
    const [parked] = await bed.set.parked.list('a')
    assert.equal(parked?.lastError, 'it says unexplained')
    assert.equal(parked.attempts, 10)
    assert.equal(await bed.inbound.retryParked('a'), 1)
    await bed.postedWithin(2, 30_000)
    await bed.drained()
    assert.deepEqual(bed.inbound.counts(), { pending: 0, parked: 0 })
  })

  test('what will never be taken is replaced by a notice', async () => {
    await using bed = await BridgeBed.open()
    let refusals = 1
    bed.helpdesk.script = (call) => {
      if (call === 'post' && refusals-- > 0) fail('permanent')
    }
    await bed.receive(message('refused'))
    await bed.posted(1)
    assert.deepEqual(bed.helpdesk.contents, ['⚠️ A message could not be shown here. It can be seen on the phone.'])
    await bed.drained()
  })

  test('a notice that is refused too is parked', async () => {
    await using bed = await BridgeBed.open()
    let refusals = 2
    bed.helpdesk.script = (call) => {
      if (call === 'post' && refusals-- > 0) fail('permanent')
    }
    await bed.receive(message('refused'))
    await bed.receive(message('next'))
    await bed.posted(1)
    assert.deepEqual(bed.helpdesk.contents, ['next'])
    assert.equal(bed.inbound.counts().parked, 1)
  })

  test('a parked message that is tried again comes before later messages of its chat that still wait', async () => {
    await using bed = await BridgeBed.open()
    bed.helpdesk.script = (call) => {
      if (call === 'post') fail('permanent')
    }
    await bed.receive(message('one'))
    await waitUntil('the message is parked', () => bed.inbound.counts().parked === 1)
    bed.helpdesk.script = () => undefined
    bed.routes.delete('a')
    for (const text of ['two', 'three']) await bed.receive(message(text))
    await bed.settle()
    assert.equal(await bed.inbound.retryParked('a'), 1)
    await bed.settle()
    bed.routes.set('a', desk)
    bed.set.held.releaseAll()
    await bed.posted(3)
    // The attempt for the second message was under way already.
    assert.deepEqual(bed.helpdesk.contents, ['two', 'one', 'three'])
    await bed.drained()
  })

  test('trouble that passes parks nothing below the age limit', async () => {
    await using bed = await BridgeBed.open({ environment: { SERVICE_INBOX_TTL: '2h' } })
    let down = true
    bed.helpdesk.script = (call) => {
      if (down && call === 'post') fail('transient')
    }
    await bed.receive(message('patient'))
    for (let passed = 0; passed < 1.9 * hour; passed += 60_000) await bed.pass(60_000)
    assert.deepEqual(bed.inbound.counts(), { pending: 1, parked: 0 })
    down = false
    await bed.postedWithin(1, 120_000, 10_000)
    assert.deepEqual(bed.helpdesk.contents, ['patient'])
  })

  test('above the age limit it is parked', async () => {
    await using bed = await BridgeBed.open({ environment: { SERVICE_INBOX_TTL: '1h' } })
    bed.helpdesk.script = (call) => {
      if (call === 'post') fail('transient')
    }
    await bed.receive(message('too old'))
    for (let passed = 0; passed < 1.1 * hour; passed += 60_000) await bed.pass(60_000)
    assert.deepEqual(bed.inbound.counts(), { pending: 0, parked: 1 })
  })

  const forbid = (bed: BridgeBed, isForbidden: (content: string) => boolean) => {
    const commit = bed.helpdesk.commit.bind(bed.helpdesk)
    bed.helpdesk.commit = (destination, conversation, given) => {
      if (isForbidden(given.content)) throw new DownstreamError('destination', 'answered 403', { status: 403 })
      return commit(destination, conversation, given)
    }
  }

  test('a message that a filter refuses, at a destination that works, is told of by a notice', async () => {
    await using bed = await BridgeBed.open()
    forbid(bed, (content) => content.includes('DROP TABLE'))
    await bed.receive(message('DROP TABLE'))
    await bed.receive(message('next'))
    await bed.postedWithin(2, 120_000, 10_000)
    assert.deepEqual(bed.helpdesk.contents, [
      '⚠️ A message could not be shown here. It can be seen on the phone.',
      'next',
    ])
    await bed.drained()
    assert.deepEqual(bed.set.held.list(), [])
  })

  test('when not even notices are taken everything waits, and arrives whole in the end', async () => {
    await using bed = await BridgeBed.open()
    let isForbidden = true
    forbid(bed, () => isForbidden)
    await bed.receive(message('one'))
    await bed.receive(message('two', { chat: person('551190001') }))
    for (let passed = 0; passed < hour; passed += 10_000) await bed.pass(10_000)
    assert.deepEqual(bed.inbound.counts(), { pending: 2, parked: 0 })
    isForbidden = false
    await bed.postedWithin(2, 120_000, 10_000)
    assert.deepEqual(bed.helpdesk.contents.toSorted(), ['one', 'two'])
  })

  test('a conversation that is gone is made anew', async () => {
    await using bed = await BridgeBed.open()
    await bed.receive(message('one'))
    await bed.posted(1)
    bed.helpdesk.conversations.length = 0
    await bed.receive(message('two'))
    await bed.posted(2)
    const [first, second] = bed.helpdesk.messages
    assert.notEqual(first?.conversationId, second?.conversationId)
    await bed.drained()
  })

  for (const mode of ['new', 'reopen']) {
    test(`no message goes into a conversation whose id belongs to another contact after a restore, mode ${mode}`, async () => {
      await using bed = await BridgeBed.open({ environment: { SERVICE_CONVERSATION_MODE: mode } })
      await bed.receive(message('one'))
      await bed.posted(1)
      const [lost] = bed.helpdesk.conversations
      Object.assign(lost ?? {}, { contactId: 999, sourceId: 'somebody else' })
      await bed.pass(61_000)
      await bed.receive(message('two'))
      await bed.posted(2)
      assert.notEqual(bed.helpdesk.messages[1]?.conversationId, lost?.id)
    })

    test(`a conversation deleted after long trouble is made anew, mode ${mode}`, async () => {
      await using bed = await BridgeBed.open({ environment: { SERVICE_CONVERSATION_MODE: mode } })
      await bed.receive(message('one'))
      await bed.posted(1)
      let inTrouble = true
      bed.helpdesk.script = (call) => {
        if (inTrouble && (call === 'post' || call === 'findPosted')) fail('transient', call === 'post')
      }
      await bed.receive(message('two'))
      for (let passed = 0; passed < 120_000; passed += 5000) await bed.pass(5000)
      bed.helpdesk.conversations.length = 0
      inTrouble = false
      await bed.postedWithin(2, 120_000, 5000)
      assert.deepEqual(bed.helpdesk.contents, ['one', 'two'])
    })
  }
})

// Which conversation gets the history of a chat.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import { desk, message } from '../../bridge/inbound/harness/bridge-bed.ts'
import { ImportBed, past } from '../harness/import-bed.ts'

/** A live message is posted, as it would be at any time. */
async function live(bed: ImportBed, text: string, at = bed.clock.now()): Promise<void> {
  await bed.bridge.receive(message(text, { at }))
  await bed.bridge.drainedWithin(60_000)
}

const shownIn = (bed: ImportBed) =>
  bed.conversations.map(({ status, isHistory, shown }) => ({ status, isHistory, shown }))

test('a chat with a conversation gets its history into a conversation of its own', async () => {
  await using bed = await ImportBed.open()
  await live(bed, 'live')
  await bed.keep([past(bed, 'old', 1)])
  await bed.run(await bed.job())
  assert.deepEqual(shownIn(bed), [
    { status: 'open', isHistory: false, shown: ['< live'] },
    { status: 'resolved', isHistory: true, shown: ['#', '< old'] },
  ])
  await live(bed, 'later')
  assert.deepEqual(bed.shown(bed.conversations[0]?.id ?? 0), ['< live', '< later'])
})

test('each job creates one History conversation for a chat', async () => {
  await using bed = await ImportBed.open()
  await live(bed, 'live')
  for (const text of ['one', 'two']) {
    await bed.keep([past(bed, text, 1)])
    await bed.run(await bed.job())
  }
  assert.deepEqual(
    bed.conversations.map(({ shown }) => shown),
    [['< live'], ['#', '< one'], ['#', '< two']],
  )
})

test('the empty conversation of a chat gets its history', async () => {
  await using bed = await ImportBed.open()
  await live(bed, 'live')
  // A live message of the millisecond in which the job is created counts as new.
  await bed.bridge.pass(1000)
  const [conversation] = bed.helpdesk.conversations
  Object.assign(conversation ?? {}, { newestMessageId: null })
  bed.helpdesk.messages.length = 0
  await bed.keep([past(bed, 'old', 1)])
  await bed.run(await bed.job())
  assert.deepEqual(shownIn(bed), [{ status: 'resolved', isHistory: false, shown: ['#', '< old'] }])
})

test('a contact that has a conversation which we do not know gets a History conversation', async () => {
  await using bed = await ImportBed.open()
  await live(bed, 'of an earlier database')
  await bed.bridge.set.conversations.forget({ instance: 'a', chatId: (await chatOf(bed)) ?? '' }, desk.key)
  await bed.keep([past(bed, 'old', 1)])
  await bed.run(await bed.job())
  assert.deepEqual(
    bed.conversations.map(({ isHistory, shown }) => ({ isHistory, shown })),
    [
      { isHistory: false, shown: ['< of an earlier database'] },
      { isHistory: true, shown: ['#', '< old'] },
    ],
  )
})

async function chatOf(bed: ImportBed): Promise<string | undefined> {
  return (await bed.bridge.set.people.lookUp('a', { phone: '5511988887777', lid: null }))?.id
}

test('what was missed before the account was linked again goes into the open conversation', async () => {
  await using bed = await ImportBed.open()
  await live(bed, 'before', bed.clock.now() - 3 * 86_400_000)
  await bed.bridge.pass(1000)
  bed.pairedAt = bed.clock.now()
  await bed.keep([past(bed, 'missed', 1), past(bed, 'missed too', 2)])
  await bed.run(await bed.job({ type: 'history_pairing' }))
  assert.deepEqual(shownIn(bed), [
    { status: 'open', isHistory: false, shown: ['< before', '< missed', '< missed too'] },
  ])
  assert.deepEqual(await bed.importing(), [])
})

test('what was missed goes into the open conversation, although the phone also sends what was bridged live', async () => {
  await using bed = await ImportBed.open()
  const before = message('before', { at: bed.clock.now() - 3 * 86_400_000 })
  await bed.bridge.receive(before)
  await bed.bridge.drainedWithin(60_000)
  await bed.bridge.pass(1000)
  bed.pairedAt = bed.clock.now()
  await bed.keep([before, past(bed, 'missed', 1)])
  await bed.run(await bed.job({ type: 'history_pairing' }))
  assert.deepEqual(shownIn(bed), [{ status: 'open', isHistory: false, shown: ['< before', '< missed'] }])
})

test('messages that are not all newer than the open conversation go into a History conversation', async () => {
  await using bed = await ImportBed.open()
  await live(bed, 'before', bed.clock.now() - 86_400_000 + 90_000)
  await bed.bridge.pass(1000)
  bed.pairedAt = bed.clock.now()
  await bed.keep([past(bed, 'older', 1), past(bed, 'missed', 2)])
  await bed.run(await bed.job({ type: 'history_pairing' }))
  assert.deepEqual(
    bed.conversations.map(({ shown }) => shown),
    [['< before'], ['#', '< older', '< missed']],
  )
})

test('missed messages go into a History conversation when something live was posted since the account was linked', async () => {
  await using bed = await ImportBed.open()
  await live(bed, 'before', bed.clock.now() - 3 * 86_400_000)
  await bed.bridge.pass(1000)
  bed.pairedAt = bed.clock.now()
  // A message that is older than all others, so that only the time of its post matters.
  await live(bed, 'late', bed.clock.now() - 2 * 86_400_000)
  await bed.keep([past(bed, 'missed', 1)])
  await bed.run(await bed.job({ type: 'history_pairing' }))
  assert.deepEqual(
    bed.conversations.map(({ shown }) => shown),
    [
      ['< before', '< late'],
      ['#', '< missed'],
    ],
  )
})

test('missed messages go into a History conversation when the conversation of the chat is resolved', async () => {
  await using bed = await ImportBed.open()
  await live(bed, 'before', bed.clock.now() - 3 * 86_400_000)
  Object.assign(bed.helpdesk.conversations[0] ?? {}, { status: 'resolved' })
  await bed.bridge.pass(1000)
  bed.pairedAt = bed.clock.now()
  await bed.keep([past(bed, 'missed', 1)])
  await bed.run(await bed.job({ type: 'history_pairing' }))
  assert.deepEqual(shownIn(bed), [
    { status: 'resolved', isHistory: false, shown: ['< before'] },
    { status: 'resolved', isHistory: true, shown: ['#', '< missed'] },
  ])
})

test('when a live message comes, the rest goes into a History conversation and agents see the live message', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([1, 2, 3, 4].map((n) => past(bed, `old ${n}`, n)))
  bed.helpdesk.afterPost = async ({ content }) => {
    if (content !== 'old 2') return
    bed.helpdesk.afterPost = () => undefined
    await bed.bridge.receive(message('live', { at: bed.clock.now() }))
    await bed.bridge.drainedWithin(5000, 50)
  }
  const { posted } = await bed.run(await bed.job())
  assert.equal(posted, 4)
  assert.deepEqual(shownIn(bed), [
    { status: 'open', isHistory: false, shown: ['#', '< old 1', '< old 2', '< live'] },
    { status: 'resolved', isHistory: true, shown: ['#', '< old 3', '< old 4'] },
  ])
  assert.ok(bed.helpdesk.calls.includes('markUnread'))
  assert.deepEqual(await bed.importing(), [])
})

test('a live message that comes while the conversation is being resolved opens it', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([past(bed, 'old', 1)])
  bed.helpdesk.script = async (call) => {
    if (call !== 'setConversationStatus') return
    bed.helpdesk.script = () => undefined
    await bed.bridge.receive(message('live', { at: bed.clock.now() }))
    await bed.bridge.drainedWithin(5000, 50)
  }
  await bed.run(await bed.job())
  assert.deepEqual(shownIn(bed), [{ status: 'open', isHistory: false, shown: ['#', '< old', '< live'] }])
})

test('a conversation that is deleted during the import is replaced', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([1, 2, 3].map((n) => past(bed, `old ${n}`, n)))
  bed.helpdesk.afterPost = ({ content }) => {
    if (content === 'old 2') bed.helpdesk.conversations.length = 0
  }
  const { posted } = await bed.run(await bed.job())
  assert.equal(posted, 3)
  assert.deepEqual(
    bed.conversations.map(({ status, shown }) => ({ status, shown })),
    [{ status: 'resolved', shown: ['#', '< old 3'] }],
  )
})

test('another helpdesk inbox gets the rest of a chat when the instance moves there', async () => {
  await using bed = await ImportBed.open()
  await bed.keep([1, 2, 3].map((n) => past(bed, `old ${n}`, n)))
  bed.helpdesk.afterPost = ({ content }) => {
    if (content === 'old 1') bed.route('a', { ...desk, key: 'http://desk|1|2', inboxId: 1 })
  }
  const { posted } = await bed.run(await bed.job())
  assert.equal(posted, 3)
  assert.deepEqual(
    bed.helpdesk.messages.map(
      ({ destination, content, private: isNote }) => `${destination} ${isNote ? '#' : content}`,
    ),
    [`${desk.key} #`, `${desk.key} old 1`, 'http://desk|1|2 #', 'http://desk|1|2 old 2', 'http://desk|1|2 old 3'],
  )
  assert.deepEqual(await bed.importing(), [])
})

test('a lost answer to the creation of a conversation creates no second one', async () => {
  await using bed = await ImportBed.open()
  await live(bed, 'live')
  await bed.keep([past(bed, 'old', 1)])
  bed.helpdesk.afterCreation = () => {
    bed.helpdesk.afterCreation = () => undefined
    throw new DownstreamError('transient', 'the answer was lost', { mayHaveHappened: true })
  }
  await bed.run(await bed.job())
  assert.deepEqual(
    bed.conversations.map(({ shown }) => shown),
    [['< live'], ['#', '< old']],
  )
})

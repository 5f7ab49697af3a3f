// How far the import of each chat of a job is, and which messages of a conversation are live.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NewClaim } from '../../src/storage/stores/messages/message-map-store.ts'
import { sampleAudit, sampleInstance } from '../harness/samples.ts'
import { engines, newDatabase } from '../harness/databases.ts'
import { openStores } from './harness/all-stores.ts'
import type { Stores } from './harness/all-stores.ts'
import { sampleJob } from './harness/job-calls.ts'
import { holdOf } from '../harness/holds.ts'

const jid = '5511988887777@s.whatsapp.net'
const anchor = { key: { chat: jid, id: 'oldest', fromMe: false, participant: null }, at: 5 }
const counts = { seen: 9, kept: 8, posted: 5, skipped: 2, errors: 1, oldestAt: 20, newestAt: 90 }
const none = { seen: 0, kept: 0, posted: 0, skipped: 0, errors: 0, oldestAt: null, newestAt: null }
const into = { instance: 'shop', chat: 'chat', jids: [jid], destination: 'd', conversationId: 1 }

const keyOf = (chat: string) => ({ jobId: 'job', chat })

async function claim({ map, database }: Stores, id: string, changes: Partial<NewClaim>, isPosted: boolean) {
  await map.claim(
    holdOf('shop'),
    {
      ...{ id, instance: 'shop', destination: 'd', chat: 'chat', sender: 'chat', networkId: id, kind: 'message' },
      ...{ direction: 'in', networkKey: anchor.key, networkAt: 5, content: null },
      posting: { conversationId: 1, since: 1000, after: 0 },
      ...changes,
    },
    id,
  )
  const posted = database.query.updateTable('message_map').set({ message_id: 7 }).where('id', '=', id)
  if (isPosted) await database.write(posted)
}

for (const engine of engines) {
  test(`a job is planned once and goes on with the chats that have not ended, on ${engine}`, async () => {
    await using opened = await newDatabase(engine)
    const { imports } = await openStores(opened.database)
    const chats = Array.from({ length: 1201 }, (_, n) => ({ chat: `chat ${n}`, jids: [jid] }))
    await imports.plan({ id: 'job', instance: 'shop' }, chats)
    await imports.plan({ id: 'job', instance: 'shop' }, [{ chat: 'chat 0', jids: ['other@lid'] }])
    assert.equal((await imports.totals('job')).chats, 1201)
    await imports.end('shop', keyOf('chat 0'), { outcome: 'imported', counts }, [])
    await imports.noteAnchor('shop', keyOf('chat 7'), anchor)
    await imports.begin('shop', keyOf('chat 7'), 4)
    await imports.noteOpening('shop', keyOf('chat 7'), { destination: 'd', since: 1000 })
    const [first, ...rest] = await imports.unfinished('job')
    assert.equal(rest.length, 1199)
    const known = { jobId: 'job', chat: 'chat 7', jids: [jid], anchor, state: 'running', seen: 4 }
    assert.deepEqual(first, { ...known, place: null, opening: { destination: 'd', since: 1000 } })
    await imports.setPlace('shop', keyOf('chat 7'), { destination: 'd', conversationId: 3, target: 'history' })
    const [placed] = await imports.unfinished('job')
    const place = { destination: 'd', conversationId: 3, target: 'history' }
    assert.deepEqual(placed, { ...known, place, opening: null })
    await imports.setPlace('shop', keyOf('chat 7'), null)
    assert.equal((await imports.unfinished('job'))[0]?.place, null)
  })

  test(`the totals of a job count chats by outcome and the messages of ended chats, on ${engine}`, async () => {
    await using opened = await newDatabase(engine)
    const { imports } = await openStores(opened.database)
    const names = ['a', 'b', 'c', 'd', 'e']
    await imports.plan(
      { id: 'job', instance: 'shop' },
      names.map((chat) => ({ chat, jids: [jid] })),
    )
    await imports.end('shop', keyOf('a'), { outcome: 'imported', counts }, [])
    await imports.end(
      'shop',
      keyOf('b'),
      { outcome: 'imported', counts: { ...counts, oldestAt: 10, newestAt: 80 } },
      [],
    )
    await imports.end('shop', keyOf('c'), { outcome: 'skipped', counts: none }, [])
    await imports.end('shop', keyOf('d'), { outcome: 'no_anchor', counts: none }, [])
    await imports.begin('shop', keyOf('e'), 100)
    assert.deepEqual(await imports.totals('job'), {
      ...{ chats: 5, done: 4, seen: 18, kept: 16, posted: 10, skipped: 4, errors: 2, oldestAt: 10, newestAt: 90 },
      outcomes: { imported: 2, skipped: 1, no_anchor: 1, error: 0 },
    })
    const empty = await imports.totals('another')
    assert.deepEqual([empty.chats, empty.done, empty.posted, empty.oldestAt], [0, 0, 0, null])
  })

  test(`only chats of ended jobs that have a conversation are abandoned, on ${engine}`, async () => {
    await using opened = await newDatabase(engine)
    const { imports, jobs } = await openStores(opened.database)
    const places = { job: 3, running: 4 }
    for (const id of ['job', 'running'] as const) {
      const place = { destination: 'd', conversationId: places[id], target: 'chat' } as const
      await jobs.create(sampleJob(id, { status: 'running' }))
      await imports.plan(
        { id, instance: 'shop' },
        ['placed', 'without', 'done'].map((chat) => ({ chat, jids: [jid] })),
      )
      for (const chat of ['placed', 'without', 'done']) await imports.begin('shop', { jobId: id, chat }, 0)
      for (const chat of ['placed', 'done']) await imports.setPlace('shop', { jobId: id, chat }, place)
      await imports.end('shop', { jobId: id, chat: 'done' }, { outcome: 'imported', counts }, [])
    }
    assert.deepEqual(await imports.abandoned('all'), [])
    const { progress, error, result } = sampleJob('job')
    await jobs.end({ id: 'job', instance: 'shop' }, { status: 'cancelled', endedAt: 2000, progress, error, result })
    const abandoned = await imports.abandoned('all')
    assert.deepEqual(
      abandoned.map(({ jobId, chat, instance }) => ({ jobId, chat, instance })),
      [{ jobId: 'job', chat: 'placed', instance: 'shop' }],
    )
    // The running job goes on in the same conversation.
    const same = { destination: 'd', conversationId: 3, target: 'open' } as const
    await imports.setPlace('shop', { jobId: 'running', chat: 'placed' }, same)
    assert.deepEqual(await imports.abandoned('all'), [])
    await imports.end('shop', { jobId: 'running', chat: 'placed' }, { outcome: 'imported', counts }, [])
    assert.equal((await imports.abandoned('all')).length, 1)
  })

  test(`a message is live unless the import under way posted it, on ${engine}`, async () => {
    await using opened = await newDatabase(engine)
    const stores = await openStores(opened.database)
    const { bridged, history, instances } = stores
    await instances.insert(holdOf('shop'), sampleInstance('shop'), sampleAudit())
    const rest = { pushName: null, quote: null, mentions: [], ad: null, secret: null }
    const chat = { kind: 'person', phone: '5511988887777', lid: null } as const
    const event = { at: 5, chat, sender: chat, fromMe: false, kind: 'message', ...rest } as const
    const content = { type: 'text', text: 'hello' } as const
    const row = { chatJid: jid, participant: '', position: 1, event: { ...event, id: 'past', content } }
    await history.keep(holdOf('shop'), [{ id: 'row', ...row }], new Map())
    await history.setOutcome(holdOf('shop'), 'row', 'posted', 'job')
    await claim(stores, 'past', {}, true)
    await claim(stores, 'elsewhere', { posting: { conversationId: 2, since: 1000, after: 0 } }, true)
    await claim(stores, 'sent', { direction: 'out' }, true)
    assert.equal(await bridged.hasLive(into, 1000), false)
    await claim(stores, 'begun', {}, false)
    assert.equal(await bridged.hasLive(into, 1000), false)
    assert.equal(await bridged.hasLive(into, 1000, { isBegun: true }), true)
    await claim(stores, 'echo', { direction: 'echo', networkAt: 70 }, true)
    assert.equal(await bridged.hasLive(into, 1000), true)
    assert.equal(await bridged.hasLive(into, 1001), false)
    assert.equal(await bridged.newestAt(into), 70)
    assert.equal(await bridged.newestAt({ ...into, conversationId: 9 }), null)
  })
}

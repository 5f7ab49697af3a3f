// The whole archive of a phone is imported when the phone is linked.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FilledChat } from '../../../sim/network/past/fill-archive.ts'
import type { SentMessage } from '../../../sim/network/people/sent-message.ts'
import { ChatwootTables } from '../../harness/chatwoot-tables.ts'
import { engines } from '../../harness/databases.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { rounds } from '../../harness/rounds.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { PhoneStage } from './harness/phone-stage.ts'
import { assertTrueDates } from './harness/true-dates.ts'

const small = { chats: 6, messages: 200 }
/** 20,000 messages take two to four minutes on two cores. */
const large = { chats: 60, messages: rounds({ gate: 4000, long: 20_000 }) }
const timeout = rounds({ gate: 600_000, long: 1_200_000 })

for (const engine of drawnEngines(import.meta.url)) {
  describe(`the archive of a phone that is linked, on ${engine}`, { concurrency: 2 }, () => {
    test('is imported oldest first with all kinds of messages, and nothing is sent', async () => {
      await using stage = await PhoneStage.open({ engine, ...small, speed: 8 })
      const { archive, kept, expected } = stage
      await stage.link()
      const { progress, result } = await stage.ended('history_pairing')
      const posted = expected.length
      assert.deepEqual(result, {
        ...{ instance: 'a', chats: 6, scanned: 6, imported: 6, skipped: 0, no_anchor: 0, errors: 0, posted },
      })
      assert.deepEqual(progress, {
        ...{ done: 6, total: 6, messages_seen: kept, messages_kept: kept, posted, skipped: 0, errors: 0 },
        estimated_end_at: null,
      })
      assert.equal(archive.messages, 200)
      stage.assertComplete()
      stage.assertSaid()
      stage.assertContacts()
      assert.deepEqual(stage.statuses(), { resolved: 6 })
      assert.deepEqual([await stage.counted('ok'), await stage.counted('filtered')], [posted, kept - posted])
      await stage.assertNotBridged({ live: 0 })
    })

    test('is not imported again: by a request, after another pairing, and when our database has forgotten it', async () => {
      await using stage = await PhoneStage.open({ engine, ...small, speed: 20 })
      const { world, kept, expected } = stage
      await stage.link()
      await stage.ended('history_pairing')
      const before = world.helpdesk.messages().length
      const again = { chats: 6, scanned: 6, imported: 0, skipped: 6, no_anchor: 0, errors: 0, posted: 0 }
      const { body } = await world.command('/a/history/import-all?days=30&timeout_per_chat=300')
      assert.deepEqual(body, { instance: 'a', ...again })
      const counts = { messages_seen: kept, messages_kept: kept, posted: 0, skipped: expected.length, errors: 0 }
      for (const forgets of [false, true]) {
        const { database } = world.service
        if (forgets) await database.write(database.query.deleteFrom('message_map'))
        await stage.linkAgain()
        const { result, progress } = await stage.ended('history_pairing')
        assert.deepEqual(result, { instance: 'a', ...again })
        assert.deepEqual(progress, { done: 6, total: 6, ...counts, estimated_end_at: null })
      }
      stage.assertComplete()
      assert.equal(world.helpdesk.messages().length, before)
      assert.deepEqual(stage.statuses(), { resolved: 6 })
    })

    test('goes on in a History conversation when live messages come in between', async () => {
      await using stage = await PhoneStage.open({ engine, ...small, messages: 360, speed: 4 })
      const { world, expected } = stage
      await stage.link()
      await stage.posted(18)
      const written = writeToday(stage)
      for (const [, sent] of written) await world.arrived(sent)
      const { progress, result } = await stage.ended('history_pairing')
      assert.deepEqual([result?.['imported'], progress['posted'], progress['skipped']], [6, expected.length, 0])
      stage.assertComplete()
      for (const [chat, sent] of written) assertContinued(stage, chat, sent)
      assert.deepEqual(stage.statuses(), { open: written.size, resolved: 6 })
      await stage.assertNotBridged({ live: written.size })
      // The archive of the phone now has the live messages, too.
      await stage.linkAgain()
      const { progress: second } = await stage.ended('history_pairing')
      assert.deepEqual([second['posted'], second['skipped']], [0, expected.length + written.size])
      stage.assertComplete()
    })
  })
}

for (const engine of drawnEngines(import.meta.url)) {
  test(
    `an archive of 60 chats and ${large.messages} messages is imported once, also beside live messages, on ${engine}`,
    { timeout },
    async () => {
      await using owned = new AsyncDisposableStack()
      const tables = engines.includes('postgres') ? owned.use(await ChatwootTables.open()) : undefined
      const environment = tables && { DOWNSTREAM_DB_URL: tables.url }
      const stage = owned.use(
        await PhoneStage.open({ engine, ...large, speed: 10, ...(environment && { environment }) }),
      )
      const { world, kept, expected, archive } = stage
      assert.deepEqual([archive.chats.length, archive.messages], [60, large.messages])
      const dates = world.service.app.workers.get('dates')
      // The tables are filled after the import. A run of the worker before that would find no messages.
      await dates?.[Symbol.asyncDispose]()
      await stage.link()
      await stage.posted(500)
      const written = writeToday(stage)
      for (const [, sent] of written) await world.arrived(sent)
      const { progress, result } = await stage.ended('history_pairing')
      const posted = expected.length
      const counts = { messages_seen: kept, messages_kept: kept, posted, skipped: 0, errors: 0 }
      assert.deepEqual(progress, { done: 60, total: 60, ...counts, estimated_end_at: null })
      const chats = { chats: 60, scanned: 60, no_anchor: 0, errors: 0 }
      assert.deepEqual(result, { instance: 'a', ...chats, imported: 60, skipped: 0, posted })
      stage.assertComplete()
      stage.assertSaid()
      stage.assertContacts()
      await stage.assertNotBridged({ live: written.size })
      const before = world.helpdesk.messages().length
      const { body } = await world.command('/a/history/import-all?days=30&timeout_per_chat=300')
      assert.deepEqual(body, { instance: 'a', ...chats, imported: 0, skipped: 60, posted: 0 })
      assert.equal(world.helpdesk.messages().length, before)
      if (!tables) return
      await tables.follow(world.helpdesk)
      const waiting = async () => {
        const { database } = world.service
        return (await database.read(database.query.selectFrom('message_dates').select('message_id'))).length
      }
      // A run corrects 500 messages. A run that fails on a busy machine is repeated.
      await waitUntil('all dates are corrected', async () => {
        await dates?.tick()
        return (await waiting()) === 0
      })
      await assertTrueDates(stage, tables)
    },
  )
}

/** A person, a person whom the phone knows by the LID, and a member of a group write now. */
function writeToday({ archive, phone, world }: PhoneStage): Map<FilledChat, SentMessage> {
  const [person, lid, group] = [
    archive.chats.find(({ jid }) => jid.endsWith('@s.whatsapp.net')),
    archive.chats.find(({ jid }) => jid.endsWith('@lid')),
    archive.chats.find(({ jid }) => jid.endsWith('@g.us')),
  ]
  assert.ok(person && 'user' in person.with && lid && 'user' in lid.with && group && !('user' in group.with))
  const member = world.network.personAt(group.with.creator.phone)
  assert.ok(member)
  return new Map([
    [person, person.with.text(phone, 'today')],
    [lid, lid.with.text(phone, 'today')],
    [group, member.text(group.with, 'today')],
  ])
}

/** The live message ends the import into the conversation of the chat. The rest follows in a History conversation. */
function assertContinued(stage: PhoneStage, chat: FilledChat, { id }: SentMessage): void {
  const { helpdesk } = stage.world
  const imported = stage.shown().find((each) => each.chat === chat)?.imported ?? []
  const [own, history, ...others] = [...new Set(imported.map(({ conversationId }) => conversationId))]
  assert.ok(own !== undefined && history !== undefined && others.length === 0, chat.jid)
  const live = helpdesk.messages().filter(({ sourceId }) => sourceId === id)
  assert.deepEqual(
    live.map(({ conversationId }) => conversationId),
    [own],
  )
  const [first, second] = [own, history].map((each) => helpdesk.see.conversations(({ id: other }) => other === each)[0])
  assert.deepEqual([first?.status, second?.status], ['open', 'resolved'])
  assert.equal(first?.contactId, second?.contactId)
}

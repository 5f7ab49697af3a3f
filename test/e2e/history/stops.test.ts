// Imports that stop on the way: by a caller, with their instance, or beside the import of another instance.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fillArchive } from '../../../sim/network/past/fill-archive.ts'
import type { ArchivePlan, FilledArchive } from '../../../sim/network/past/fill-archive.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'
import type { WorldOptions } from '../../harness/world.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'
import { completedJob, importedAt, importing, newestJob, wronglyImported } from './harness/watched-jobs.ts'
import type { JobBody } from './harness/import-world.ts'

const quiet = { history: { enabled: false, days: 10 } }
const tables = ['history_messages', 'history_chats', 'jobs', 'import_chats', 'message_dates'] as const

/** The world and its helpdesk share the clock. */
function open(clock: LeapingClock, options: WorldOptions): Promise<World> {
  const environment = { ...importing, ...options.environment }
  return World.unlinked({ ...options, clock, environment, helpdesk: { messagesPerMinute: 10_000, clock } })
}

/** The phone has sent its history, and no import of it has begun. */
async function pair(world: World, name: string, phone: string, plan: ArchivePlan): Promise<FilledArchive> {
  const archive = fillArchive(world.network, world.network.account({ phone }), { days: 5, ...plan })
  await world.pair(name, phone, quiet)
  const { database } = world.service
  const count = async () => {
    const query = database.query.selectFrom('history_messages').select(({ fn }) => fn.countAll<number>().as('count'))
    return Number((await database.read(query.where('instance', '=', name)))[0]?.count)
  }
  const all = archive.messages + archive.reactions
  await waitUntil('the history is kept', async () => (await count()) === all)
  return archive
}

async function start(world: World, name: string): Promise<void> {
  const { status, text } = await world.command(`/${name}/history/import-all-async?days=10`)
  assert.equal(status, 202, text)
}

/** The messages of the archive that are at the helpdesk, in the order in which they came. */
function postedOf({ helpdesk }: World, { chats }: FilledArchive): number[] {
  const ids = new Set(chats.flatMap(({ items }) => items.map(({ id }) => id)))
  return importedAt(helpdesk).flatMap(({ id, sourceId }) => (ids.has(sourceId ?? '') ? id : []))
}

/** Cancels the job of the instance. Returns when that had to be done, by the clock of the service. */
async function cancel(world: World, clock: LeapingClock, instance = 'a'): Promise<number> {
  const { id } = await newestJob(world, 'runs', ({ status }) => status === 'running', { instance })
  const lookedAt = performance.now()
  await world.service.get(`/api/jobs/${id}`)
  const since = performance.now()
  // On a busy machine each request takes longer.
  const limitMs = Math.max(1000, 10 * (since - lookedAt))
  const until = clock.now() + limitMs
  const { status, body } = await world.service.request('DELETE', `/api/jobs/${id}`)
  const tookMs = performance.now() - since
  assert.deepEqual([status, (body as JobBody).status], [200, 'cancelled'])
  assert.ok(tookMs < limitMs, `${tookMs} ms`)
  return until
}

/** When the helpdesk got messages, by its clock. */
function postTimes({ helpdesk }: World): number[] {
  const posts = helpdesk.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/messages'))
  return posts.map(({ at }) => at)
}

/** The helpdesk answers a request that is made after those of the service. */
async function requestsSettle({ helpdesk }: World): Promise<void> {
  assert.equal((await new DeskClient(helpdesk).get('/labels')).status, 200)
  await helpdesk.settled()
}

/** Time leaps in steps, so that the work of each step is done before the next one. */
async function leapUntil(what: string, clock: LeapingClock, holds: () => boolean | Promise<boolean>): Promise<void> {
  await waitUntil(what, async () => {
    await clock.advance(5000)
    return holds()
  })
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`an import on ${engine}`, { concurrency: 2 }, () => {
    test('is cancelled within a second, posts nothing more, and its conversations are resolved', async () => {
      const clock = new LeapingClock()
      await using world = await open(clock, { engine })
      const { helpdesk } = world
      const archive = await pair(world, 'a', '5511999990001', { chats: 8, messages: 160 })
      await start(world, 'a')
      await waitUntil('some messages are posted', () => postedOf(world, archive).length > 16)
      const until = await cancel(world, clock)
      // What is on its way is answered before the clock leaps.
      await requestsSettle(world)
      const areResolved = () => helpdesk.see.conversations().every(({ status }) => status === 'resolved')
      await leapUntil('all conversations are resolved', clock, areResolved)
      const before = postedOf(world, archive).length
      assert.ok(before < 160)
      // A message that was on its way when the job was cancelled arrives.
      assert.ok(Math.max(...postTimes(world)) < until)
      // The messages that are left are kept for the next import.
      await start(world, 'a')
      const isOver = () => postedOf(world, archive).length === 160
      await leapUntil('the other messages are posted', clock, isOver)
      const { result } = await completedJob(world)
      assert.deepEqual(wronglyImported(helpdesk, archive), [])
      assert.equal(result?.['errors'], 0)
    })

    test('that waits for the helpdesk is cancelled within a second', async () => {
      const clock = new LeapingClock()
      await using world = await open(clock, { engine })
      await pair(world, 'a', '5511999990001', { chats: 2, messages: 8 })
      await world.helpdesk.fault({ kind: 'timeout', commit: 'never', method: 'POST', path: /\/messages$/ })
      await start(world, 'a')
      await world.helpdesk.waitForHeldRequests()
      await cancel(world, clock)
      await clock.advance(15_000)
    })

    test('stops at once when its instance is deleted: the helpdesk hears nothing more, and nothing is left', async () => {
      const clock = new LeapingClock()
      await using world = await open(clock, { engine })
      const { helpdesk, service } = world
      const archive = await pair(world, 'a', '5511999990001', { chats: 8, messages: 160 })
      await start(world, 'a')
      await waitUntil('some messages are posted', () => postedOf(world, archive).length > 16)
      const { status } = await service.request('DELETE', '/api/instances/a')
      assert.equal(status, 200)
      // What is on its way is answered before the clock leaps.
      await requestsSettle(world)
      const deletedAt = clock.now()
      for (const table of tables) {
        const rows = await service.database.read(service.database.query.selectFrom(table).selectAll())
        assert.deepEqual(rows, [], table)
      }
      await clock.advance(11 * 60_000)
      await helpdesk.settled()
      // A request that was on its way when the instance was deleted is answered.
      const late = helpdesk.requests.filter(({ at }) => at > deletedAt + 5000)
      const later = late.map(({ method, path, status }) => `${method} ${path} ${status}`)
      assert.deepEqual(later, [])
    })

    test('leaves the import of another instance its share', async () => {
      const environment = { SERVICE_HISTORY_IMPORT_RATE_PER_SEC: '20' }
      const clock = new LeapingClock()
      await using world = await open(clock, { engine, environment })
      const many = await pair(world, 'a', '5511999990001', { chats: 12, messages: 240 })
      const few = await pair(world, 'b', '5511999990002', { chats: 6, messages: 36 })
      await start(world, 'a')
      await waitUntil('an import is under way', () => postedOf(world, many).length > 20)
      await start(world, 'b')
      await completedJob(world, 'b')
      const own = postedOf(world, few)
      const [first = 0, last = 0] = [own[0], own.at(-1)]
      const beside = postedOf(world, many).filter((id) => id > first && id < last).length
      assert.equal(own.length, 36)
      assert.ok(beside >= 18 && beside <= 72, `${beside} messages of the one beside 36 of the other`)
      await cancel(world, clock)
    })
  })
}

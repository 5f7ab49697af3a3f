// The network stops accepting a client version: the service asks for the newest one and goes on with it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DEFAULT_CONNECTION_CONFIG } from 'baileys'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

const [, , library] = DEFAULT_CONNECTION_CONFIG.version
const next = library + 1000
const wrong = library + 2000

type Shown = { current: string; worked: string | null; pinned: boolean; refused: boolean; asked_at: string | null }

const name = (revision: number) => `2.3000.${revision}`

async function shown(world: World): Promise<Shown> {
  const { checks } = (await world.service.get('/api/health')).body as { checks: { network_version: Shown } }
  return checks.network_version
}

/** The server requires this revision and names it; all connections drop. */
async function expire(world: World, revision: number): Promise<void> {
  Object.assign(world.network.versions, { newest: revision, oldest: revision })
  await world.network.strike({ kind: 'drop' })
}

async function askedAgain(world: World, before: number): Promise<void> {
  await waitUntil('the version was asked for', () => world.network.versions.questions > before)
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`a client version that has expired, on ${engine}`, () => {
    test('is replaced by the newest one at once, which is stored and shown', async () => {
      await using world = await World.open({ engine })
      await waitUntil('the version was asked for at the start', () => world.network.versions.questions === 1)
      assert.equal((await shown(world)).current, name(library))
      await expire(world, next)
      await waitUntil('a login with the newest version', () => world.network.versions.seen.includes(next))
      await world.allReady()
      assert.equal(world.network.versions.questions, 2)
      const { current, worked, pinned, refused } = await shown(world)
      assert.deepEqual([current, worked, pinned, refused], [name(next), name(next), false, false])
      assert.equal(
        await world.metric(`service_network_version_info{version="${name(next)}",pinned="false",refused="false"}`),
        1,
      )
      assert.equal(
        await world.metric(`service_network_version_info{version="${name(library)}",pinned="false",refused="false"}`),
        0,
      )
      assert.equal((await world.detail('n0')).last_error, null)
      world.network.versions.newest = undefined
      const before = world.network.versions.seen.length
      await world.restart()
      assert.deepEqual(world.network.versions.seen.slice(before), [next], 'the stored version is used at once')
    })
  })
}

test('all instances share one question', async () => {
  await using world = await World.open({ accounts: 4 })
  await waitUntil('the version was asked for at the start', () => world.network.versions.questions === 1)
  await expire(world, next)
  await waitUntil('all log in', () => world.network.versions.seen.filter((one) => one === next).length === 4)
  await world.allReady()
  assert.equal(world.network.versions.questions, 2)
})

test('a pairing is opened again at once with the newest version', async () => {
  await using world = await World.unlinked()
  await waitUntil('the version was asked for at the start', () => world.network.versions.questions === 1)
  Object.assign(world.network.versions, { newest: next, oldest: next })
  await world.pair('a')
  assert.equal((await world.detail('a')).last_error, null)
})

test('a newer version that the network refuses is given up for the last one that worked', async () => {
  await using world = await World.open()
  const { versions } = world.network
  assert.equal((await shown(world)).worked, name(library))
  versions.newest = wrong
  versions.refused.add(wrong)
  await world.restartService()
  const isLearnt = () => world.service.logs.withMessage('the network names a newer client version').length > 0
  await waitUntil('the wrong version was learnt', isLearnt)
  await world.network.strike({ kind: 'drop' })
  await waitUntil('the wrong version was tried', () => versions.seen.includes(wrong))
  await waitUntil('the last login is one that worked', () => versions.seen.at(-1) === library)
  await world.allReady()
  assert.equal((await shown(world)).current, name(library))
  // A restart does not try the refused version again, and a later one is taken.
  const before = versions.seen.length
  await world.restart()
  await world.network.strike({ kind: 'drop' })
  await waitUntil('another login', () => versions.seen.length > before + 1)
  assert.deepEqual(versions.seen.slice(before), [library, library])
  await expire(world, wrong + 1)
  await waitUntil('a login with the later version', () => versions.seen.at(-1) === wrong + 1)
  await world.allReady()
})

test('without a newer version the login is tried every 15 minutes, and each time the version is asked for', async () => {
  const clock = new ManualClock()
  await using world = await World.open({ clock })
  const { versions } = world.network
  versions.oldest = next
  await world.network.strike({ kind: 'drop' })
  await world.reaches('n0', 'disconnected')
  await clock.advance(2000)
  await waitUntil('the login was refused', () => versions.seen.length === 2)
  await askedAgain(world, 1)
  const refused = await world.reaches('n0', 'disconnected')
  assert.match(refused.last_error ?? '', /version/)
  assert.equal(refused.last_error_code, 'version_refused')
  const inUse = `service_network_version_info{version="${name(library)}",pinned="false"`
  assert.equal(await world.metric(`${inUse},refused="true"}`), 1)
  assert.equal((await shown(world)).refused, true)
  await clock.advance(14 * 60_000)
  assert.equal(versions.seen.length, 2)
  versions.newest = next
  await clock.advance(60_000)
  await waitUntil('a login with the newest version', () => versions.seen.at(-1) === next)
  await world.allReady()
  assert.equal((await world.detail('n0')).last_error_code, null)
})

test('a pinned version is not asked for, and its refusal says what to do', async () => {
  await using world = await World.open({ environment: { SERVICE_NETWORK_VERSION: `2,3000,${library - 1}` } })
  const { versions } = world.network
  await expire(world, next)
  await waitUntil('the refusal is told', async () => (await world.detail('n0')).last_error_code === 'version_refused')
  const { last_error: reason } = await world.reaches('n0', 'disconnected')
  assert.match(reason ?? '', /SERVICE_NETWORK_VERSION/)
  assert.equal(versions.questions, 0)
  assert.deepEqual(new Set(versions.seen), new Set([library - 1]))
  const { current, pinned, refused } = await shown(world)
  assert.deepEqual([current, pinned, refused], [name(library - 1), true, true])
})

test('when both known versions are refused, the operator is told once, and one login is tried every 15 minutes', async () => {
  const clock = new ManualClock()
  await using world = await World.open({ clock })
  const { versions } = world.network
  const told = async () => (await world.events('n0'))['disconnected']
  Object.assign(versions, { newest: next, oldest: wrong })
  await world.network.strike({ kind: 'drop' })
  await world.reaches('n0', 'disconnected')
  await clock.advance(2000)
  await waitUntil('both were refused', () => versions.seen.length === 3)
  await waitUntil('both refusals are told', async () => (await told()) === 2)
  for (const tried of [next, library, next]) {
    await world.reaches('n0', 'disconnected')
    const before = versions.seen.length
    const asked = versions.questions
    await clock.advance(14 * 60_000)
    assert.equal(versions.seen.length, before)
    await clock.advance(60_000)
    await askedAgain(world, asked)
    await world.reaches('n0', 'disconnected')
    assert.deepEqual(versions.seen.slice(before), [tried])
    assert.equal(await told(), 2, 'the drop and the refusal')
  }
  versions.oldest = 0
  await clock.advance(15 * 60_000)
  await world.allReady()
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordedLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { waitUntil } from '../../../test/harness/wait-until.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { StoredVersions } from '../../storage/stores/accounts/client-version-store.ts'
import { defaultVersion } from '../library/library.ts'
import { ClientVersion } from './client-version.ts'

const [, , library] = defaultVersion
const day = 86_400_000
const minute = 60_000
const name = (revision: number) => `2.3000.${revision}`

/** A page and a store that a test can change, and the version that uses them. */
class Bench {
  readonly clock = new ManualClock()
  readonly logs = new RecordedLog()
  page: string | Promise<string> | Error = `"client_revision":${library}`
  questions = 0
  stored: StoredVersions | undefined
  isStorageAway = false
  readonly duties = { isFirst: () => true }
  readonly version: ClientVersion

  constructor(pinned: string[] = []) {
    this.version = new ClientVersion({
      pinned,
      page: { read: () => this.#read() },
      store: {
        find: () => (this.isStorageAway ? Promise.reject(new Error('away')) : Promise.resolve(this.stored)),
        save: (versions) => {
          this.stored = versions
          return Promise.resolve()
        },
      },
      duties: this.duties,
      clock: this.clock,
      log: this.logs.log,
    })
  }

  async #read(): Promise<string> {
    this.questions++
    if (this.page instanceof Error) throw this.page
    return this.page
  }

  /** Waits for this many questions, and for what follows them. */
  async asked(times: number): Promise<void> {
    await waitUntil(`${times} questions`, () => this.questions >= times)
    await this.clock.advance(0)
    assert.equal(this.questions, times)
  }

  warnings(text: RegExp): number {
    return this.logs.lines.filter((line) => text.test(line)).length
  }
}

test('the version is asked for at the start and then every day', async () => {
  const bench = new Bench()
  await using version = bench.version
  version.start()
  await bench.asked(1)
  assert.equal(version.state.askedAt, bench.clock.now())
  bench.page = `"client_revision":${library + 1}`
  await bench.clock.advance(day - 1)
  await bench.asked(1)
  await bench.clock.advance(1)
  await bench.asked(2)
  assert.equal(version.state.current, name(library + 1))
  assert.equal(bench.stored?.newest, name(library + 1))
})

test('a failed question changes nothing, is logged once, and is repeated after growing pauses', async () => {
  const bench = new Bench()
  await using version = bench.version
  bench.page = new Error('no route')
  version.start()
  await bench.asked(1)
  // The pauses are 1, 2 and 4 minutes, each up to a fifth shorter or longer.
  await bench.clock.advance(1.2 * minute)
  await bench.asked(2)
  await bench.clock.advance(1.1 * minute)
  await bench.asked(2)
  bench.page = 'no version here'
  await bench.clock.advance(1.4 * minute)
  await bench.asked(3)
  await bench.clock.advance(1.8 * minute)
  await bench.asked(3)
  assert.equal(bench.warnings(/could not be asked for/), 1)
  assert.deepEqual([version.state.current, version.state.askedAt], [name(library), null])
  bench.page = `"client_revision":${library + 1}`
  await bench.clock.advance(3 * minute)
  await bench.asked(4)
  assert.equal(version.state.current, name(library + 1))
})

test('a question that was under way at the refusal is asked again', async () => {
  const bench = new Bench()
  await using version = bench.version
  const early = Promise.withResolvers<string>()
  bench.page = early.promise
  version.start()
  await bench.asked(1)
  const refused = (await version.take()).refused()
  bench.page = `"client_revision":${library + 1}`
  early.resolve(`"client_revision":${library}`)
  assert.equal(await refused, 'another')
  await bench.asked(2)
})

test('refusals of one version share a question; a later refusal asks again', async () => {
  const bench = new Bench()
  await using version = bench.version
  const uses = await Promise.all([version.take(), version.take(), version.take()])
  assert.deepEqual(await Promise.all(uses.map((use) => use.refused())), ['none', 'none', 'none'])
  await bench.asked(1)
  assert.equal(await (await version.take()).refused(), 'none')
  await bench.asked(1)
  assert.equal(bench.warnings(/refuses this client version/), 1)
  await bench.clock.advance(15 * minute)
  bench.page = `"client_revision":${library + 1}`
  assert.equal(await (await version.take()).refused(), 'another')
  await bench.asked(2)
})

test('when all known versions are refused, none is another one, also after 15 minutes', async () => {
  const bench = new Bench()
  await using version = bench.version
  ;(await version.take()).worked()
  bench.page = `"client_revision":${library + 1}`
  assert.equal(await (await version.take()).refused(), 'another')
  for (let n = 0; n < 3; n++) {
    assert.equal(await (await version.take()).refused(), 'none')
    await bench.clock.advance(15 * minute)
  }
})

test('a refusal of a version that is no longer used asks nothing', async () => {
  const bench = new Bench()
  await using version = bench.version
  const late = await version.take()
  bench.page = `"client_revision":${library + 1}`
  version.start()
  await bench.asked(1)
  const current = await version.take()
  current.worked()
  assert.equal(await late.refused(), 'another')
  await bench.asked(1)
})

test('a question that fails after a refusal leaves the version in use', async () => {
  const bench = new Bench()
  await using version = bench.version
  bench.page = new Error('no route')
  assert.equal(await (await version.take()).refused(), 'none')
  assert.deepEqual([version.state.current, version.state.isRefused], [name(library), true])
  ;(await version.take()).worked()
  assert.equal(version.state.isRefused, false)
})

test('a stored version that cannot be read is not overwritten, and is read later', async () => {
  const bench = new Bench()
  await using version = bench.version
  bench.stored = { newest: name(library + 5), worked: null, refused: null }
  bench.isStorageAway = true
  const use = await version.take()
  assert.deepEqual(use.numbers, defaultVersion)
  use.worked()
  assert.equal(bench.stored.newest, name(library + 5))
  bench.isStorageAway = false
  assert.deepEqual((await version.take()).numbers, [2, 3000, library + 5])
})

test('a version that worked while the storage was away is not replaced by the stored one', async () => {
  const bench = new Bench()
  await using version = bench.version
  bench.stored = { newest: name(library), worked: name(library - 1), refused: null }
  bench.isStorageAway = true
  ;(await version.take()).worked()
  bench.isStorageAway = false
  await version.take()
  assert.equal(version.state.worked, name(library))
})

test('a pinned version is used as it is, and the network is never asked', async () => {
  const bench = new Bench(['2', '3000', '7'])
  await using version = bench.version
  version.start()
  const use = await version.take()
  assert.deepEqual(use.numbers, [2, 3000, 7])
  assert.equal(await use.refused(), 'pinned')
  assert.deepEqual([version.state.isPinned, version.state.isRefused], [true, true])
  use.worked()
  await bench.asked(0)
  assert.equal(version.state.isRefused, false)
  assert.equal(bench.stored, undefined)
})

test('the end does not wait for an answer', async () => {
  const bench = new Bench()
  const never = Promise.withResolvers<string>()
  never.promise.catch(ignoreRejection)
  bench.page = never.promise
  bench.version.start()
  await bench.asked(1)
  const ended = bench.version[Symbol.asyncDispose]()
  never.reject(new Error('aborted'))
  await ended
  assert.equal(bench.warnings(/could not be asked for/), 0)
})

test('a node that is not the first reads what the first one has stored, and asks and stores nothing', async () => {
  const bench = new Bench()
  await using version = bench.version
  bench.duties.isFirst = () => false
  version.start()
  await bench.clock.advance(0)
  bench.stored = { newest: `2.3000.${library + 5}`, worked: null, refused: null }
  await bench.clock.advance(3_600_000)
  assert.equal(version.state.current, `2.3000.${library + 5}`)
  ;(await version.take()).worked()
  await bench.clock.advance(0)
  assert.deepEqual([bench.questions, bench.stored.worked], [0, null])
})

test('a node that becomes the first asks within an hour', async () => {
  const bench = new Bench()
  await using version = bench.version
  bench.duties.isFirst = () => false
  version.start()
  await bench.clock.advance(0)
  bench.duties.isFirst = () => true
  await bench.clock.advance(3_600_000)
  await bench.asked(1)
})

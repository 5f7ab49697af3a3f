// When pictures are looked at: refresh time, rate limit, four at once, bounded queues, accounts that share a contact.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chatJid } from '../../../src/core/address.ts'
import { NetworkBusyError } from '../../../src/core/realtime.ts'
import { listedContact } from '../../harness/listed-contact.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { AvatarBed, hourMs, person } from './harness/avatar-bed.ts'

const addressOf = (n: number) => chatJid(person(n))

test('an active chat is looked at again when its picture is no longer fresh, and uploads only another picture', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  bed.pictures.set(addressOf(1), 'one')
  bed.seen(1)
  await bed.uploaded([1, 'one'])
  await bed.counts({ ok: 1 })
  await bed.clock.advance(23 * hourMs)
  bed.seen(1)
  await bed.counts({ ok: 1, throttled: 1 })
  assert.equal(bed.asked.length, 1)
  await bed.clock.advance(2 * hourMs)
  assert.equal(bed.asked.length, 1)
  bed.seen(1)
  await bed.counts({ ok: 2, throttled: 1 })
  assert.equal(bed.asked.length, 2)
  bed.pictures.set(addressOf(1), 'two')
  await bed.clock.advance(25 * hourMs)
  bed.seen(1)
  await bed.uploaded([1, 'one'], [1, 'two'])
})

test('after a failure an active chat is looked at again ten minutes later', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  bed.beforeAnswer = () => {
    throw new Error('no answer')
  }
  bed.seen(1)
  await bed.counts({ wa_error: 1 })
  bed.seen(1)
  await bed.counts({ wa_error: 1, throttled: 1 })
  await bed.clock.advance(600_001)
  bed.seen(1)
  await bed.counts({ wa_error: 2, throttled: 1 })
})

test('a change that could not be shown is shown at a later message, although the picture before was fresh', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  bed.pictures.set(addressOf(1), 'one')
  bed.seen(1)
  await bed.counts({ ok: 1 })
  bed.pictures.set(addressOf(1), 'two')
  bed.beforeAnswer = () => {
    throw new Error('no answer')
  }
  bed.avatars.changed('a', { owner: person(1), pictureId: 'two' })
  await bed.clock.advance(200)
  await bed.counts({ ok: 1, wa_error: 1 })
  bed.beforeAnswer = () => undefined
  await bed.clock.advance(600_001)
  bed.seen(1)
  await bed.uploaded([1, 'one'], [1, 'two'])
})

test('a rate limit pauses all pictures of the instance, no others, and no picture is lost', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  for (let n = 1; n <= 20; n++) bed.pictures.set(addressOf(n), `p${n}`)
  let isBusy = true
  bed.beforeAnswer = (address) => {
    if (isBusy && address !== addressOf(20)) throw new NetworkBusyError(60_000, 'too many questions')
  }
  for (let n = 1; n <= 10; n++) bed.seen(n)
  await waitUntil('the first question is refused', () => bed.asked.length === 1)
  bed.seen(20, 'b')
  await bed.uploaded([20, 'p20'])
  await bed.clock.advance(59_000)
  assert.equal(bed.asked.length, 2)
  isBusy = false
  await bed.clock.advance(1_000)
  await bed.afterPaces('all pictures are looked at', () => bed.counted['ok'] === 11)
  assert.deepEqual(
    new Set(bed.uploads.map(([contact]) => contact)),
    new Set([20, ...Array.from({ length: 10 }, (_, n) => n + 1)]),
  )
})

test('pictures of an account that is not connected wait for it', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  bed.pictures.set(addressOf(1), 'one')
  bed.isConnected = false
  bed.seen(1)
  await waitUntil('the pause has begun', () => bed.clock.pending === 2)
  bed.isConnected = true
  await bed.clock.advance(5_000)
  await bed.uploaded([1, 'one'])
})

test('four pictures are looked at once, the instances take turns, and live events come before a resync', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  const { promise, resolve } = Promise.withResolvers<undefined>()
  bed.beforeAnswer = () => promise
  for (let n = 1; n <= 4; n++) bed.seen(n)
  await bed.afterPaces('four questions are open', () => bed.asked.length === 4)
  for (let n = 5; n <= 7; n++) bed.avatars.resync('a', person(n), n)
  bed.seen(50)
  bed.seen(60, 'b')
  await bed.clock.advance(1_000)
  assert.equal(bed.asked.length, 4)
  resolve(undefined)
  await bed.counts({ wa_miss: 6 })
  assert.deepEqual(new Set(bed.asked.slice(4)), new Set([50, 60].map(addressOf)), 'live events come first')
  await bed.afterPaces('the resync is done', () => bed.counted['wa_miss'] === 9)
  assert.deepEqual(bed.asked.slice(6), [5, 6, 7].map(addressOf))
})

test('an instance asks the network five times a second at most, also for a resync', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  for (let n = 1; n <= 3; n++) bed.seen(n)
  for (let n = 4; n <= 6; n++) bed.avatars.resync('a', person(n), n)
  for (let n = 1; n <= 6; n++) {
    await bed.counts({ wa_miss: n })
    await bed.clock.advance(199)
    assert.equal(bed.asked.length, n)
    await bed.clock.advance(1)
  }
})

test('a resync waits while received messages are under way, for a second at most; live events do not wait', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  bed.busy.add('a')
  bed.avatars.resync('a', person(1), 1)
  bed.avatars.resync('b', person(2), 2)
  await bed.counts({ wa_miss: 1 })
  await bed.clock.advance(990)
  assert.deepEqual(bed.asked, [addressOf(2)], 'only the other instance has asked')
  await bed.clock.advance(10)
  await bed.counts({ wa_miss: 2 })
  bed.avatars.resync('a', person(3), 3)
  await bed.clock.advance(500)
  bed.seen(4)
  await bed.clock.advance(10)
  await bed.counts({ wa_miss: 3 })
  assert.deepEqual(bed.asked.slice(1), [addressOf(1), addressOf(4)])
  await bed.clock.advance(500)
  assert.equal(bed.asked.length, 3, 'messages are still under way')
  bed.busy.clear()
  await bed.clock.advance(10)
  await bed.counts({ wa_miss: 4 })
})

test('after a day offline 500 people write for the first time, and the network is asked once a second', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  for (let n = 1; n <= 500; n++) bed.seen(n)
  for (let second = 0; second <= 60; second++) {
    const isIdle = () => bed.asked.length > 0 && bed.counted['wa_miss'] === bed.asked.length
    await waitUntil('the open questions are answered', isIdle)
    assert.ok(bed.asked.length <= second + 1, `${bed.asked.length} questions after ${second} s`)
    await bed.clock.advance(1_000)
  }
  await bed.afterPaces('all pictures are looked at', () => bed.counted['wa_miss'] === 500)
})

test('a fresh picture is no question to the network, so the next one does not wait', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  for (let n = 1; n <= 30; n++) bed.seen(n)
  await bed.afterPaces('all pictures are looked at', () => bed.counted['wa_miss'] === 30)
  const restarted = bed.restarted()
  for (let n = 1; n <= 31; n++) restarted.seen('a', person(n), 'd')
  await bed.counts({ wa_miss: 31, throttled: 30 })
})

test('a queue that is full drops the oldest, and every event is counted once', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  let isBusy = true
  bed.beforeAnswer = () => {
    if (isBusy) throw new NetworkBusyError(60_000, 'too many questions')
  }
  for (let n = 1; n <= 1_200; n++) bed.seen(n)
  for (let n = 1; n <= 1_200; n++) bed.avatars.changed('a', { owner: person(n), pictureId: null })
  await waitUntil('the first question is refused', () => bed.asked.length === 1)
  isBusy = false
  await bed.clock.advance(60_000)
  const total = () => Object.values(bed.counted).reduce((sum, each) => sum + each, 0)
  await bed.afterPaces('everything is counted', () => total() === 2_400)
  assert.ok((bed.counted['wa_miss'] ?? 0) <= 1_004)
})

test('an instance that leaves is forgotten at once, and nothing more is counted for it', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  const { promise, resolve } = Promise.withResolvers<undefined>()
  bed.beforeAnswer = () => promise
  for (let n = 1; n <= 6; n++) bed.seen(n)
  await bed.afterPaces('four questions are open', () => bed.asked.length === 4)
  bed.avatars.leave('a')
  resolve(undefined)
  bed.seen(9, 'b')
  await bed.counts({ wa_miss: 1 })
  assert.equal(bed.asked.length, 5)
})

test('an account that does not see a picture leaves the picture that another account uploaded', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  bed.pictures.set(addressOf(1), 'one')
  bed.seen(1)
  await bed.uploaded([1, 'one'])
  bed.pictures.set(addressOf(1), 'none')
  bed.avatars.changed('b', { owner: person(1), pictureId: null })
  await bed.counts({ ok: 1, wa_miss: 1 })
  assert.equal(bed.thumbnails.size, 1)
  bed.avatars.changed('a', { owner: person(1), pictureId: null })
  await bed.clock.advance(200)
  await bed.counts({ ok: 1, wa_miss: 2 })
  assert.equal(bed.thumbnails.size, 0)
})

test('a picture that an agent sets while the file is fetched stays', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  bed.pictures.set(addressOf(1), 'one')
  bed.beforeFile = () => bed.thumbnails.set(1, 'https://desk.example/blobs/9/portrait.jpg')
  bed.seen(1)
  await bed.counts({ ok: 1 })
  assert.deepEqual(bed.uploads, [])
})

test('a resync ends after 200 pages, counts a contact once, and a second one meanwhile gets the same result', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  let read = 0
  bed.pages = (page) => {
    read++
    // Each page begins with the last contact of the page before.
    const ids = Array.from({ length: 15 }, (_, n) => (page - 1) * 14 + n + 1)
    return { contacts: ids.map((id) => listedContact({ id, identifier: addressOf(id) })), isLast: false }
  }
  const both = Promise.all([bed.resync.run('a'), bed.resync.run('a')])
  await waitUntil('all pages are read', async () => {
    await bed.clock.advance(50)
    return read === 200
  })
  const [one, other] = await both
  assert.deepEqual(one, { scanned: 2_801, skipped: 0, queued: 2_801, pages: 200 })
  assert.deepEqual([other, read], [one, 200])
})

test('a resync ends when its instance leaves, and looks at no further picture', async () => {
  await using stack = new AsyncDisposableStack()
  const bed = await AvatarBed.open(stack)
  const read: number[] = []
  bed.pages = (page) => {
    read.push(page)
    if (page === 2) for (const part of [bed.avatars, bed.resync]) part.leave('a')
    return { contacts: [listedContact({ id: page, identifier: addressOf(page) })], isLast: page === 3 }
  }
  const resync = bed.resync.run('a')
  const refusal = assert.rejects(resync, { code: 'SERVICE_INSTANCE_NOT_FOUND' })
  await waitUntil('two pages are read', async () => {
    await bed.clock.advance(50)
    return read.length >= 2
  })
  await bed.clock.advance(1_000)
  await refusal
  assert.deepEqual(read, [1, 2])
  // The question for the contact of the first page may have begun before.
  assert.deepEqual(
    bed.asked.filter((address) => address !== addressOf(1)),
    [],
  )
  bed.pages = () => ({ contacts: [], isLast: true })
  assert.deepEqual(await bed.resync.run('a'), { scanned: 0, skipped: 0, queued: 0, pages: 1 })
})

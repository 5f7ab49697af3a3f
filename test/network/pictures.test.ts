// Profile pictures of people and groups: asked for, fetched, refused, and changed.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { EventLog } from '../../sim/event-log.ts'
import { SimNetwork } from '../../sim/network/sim-network.ts'
import { IqError } from '../../sim/network/server/iq-router.ts'
import type { Chat } from '../../src/core/address.ts'
import { FileError } from '../../src/core/network.ts'
import type { NetworkSession } from '../../src/core/network.ts'
import { NetworkBusyError } from '../../src/core/realtime.ts'
import type { PictureChange, ProfilePicture } from '../../src/core/realtime.ts'
import { authorityFile, trustMediaHost } from '../harness/media-authority.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { Bed } from './harness/bed.ts'
import { settingsFor, storeLinked } from './harness/network-room.ts'
import { Proxy } from './harness/proxies.ts'
import { holdOf } from '../harness/holds.ts'

const question = 'w:profile:picture get picture'
const byPhone: Chat = { kind: 'person', phone: '5511888880001', lid: null }
const byLid: Chat = { kind: 'person', phone: null, lid: '200000000000001' }

type Stage = { bed: Bed; changes: EventLog<PictureChange> }

async function open(more: Parameters<typeof Bed.open>[0] = {}): Promise<Stage & AsyncDisposable> {
  const changes = new EventLog<PictureChange>('the changed pictures', (one) => JSON.stringify(one))
  const reception = {
    onPictureChanged: (_: string, change: PictureChange) => {
      changes.add(change)
    },
  }
  const bed = await Bed.open({ ...more, network: { reception, ...more.network } })
  trustMediaHost(bed.sim)
  return { bed, changes, [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose]() }
}

async function online(bed: Bed) {
  const phone = await bed.linked('s')
  const bob = bed.sim.person({ phone: '5511888880001', lid: '200000000000001', pushName: 'Bob' })
  const { session } = await bed.online('s')
  return { phone, bob, session }
}

async function pictureOf(session: NetworkSession, chat: Chat): Promise<ProfilePicture> {
  const picture = await session.profilePicture(chat)
  assert.ok(typeof picture === 'object')
  return picture
}

async function bytesOf(session: NetworkSession, chat: Chat): Promise<Buffer> {
  return (await pictureOf(session, chat)).read()
}

test('the picture of a person is found by phone number and by LID, and has another id after a change', async () => {
  await using stage = await open()
  const { bob, session } = await online(stage.bed)
  const ids = new Set<string>()
  for (const jpeg of [randomBytes(900), randomBytes(70_000)]) {
    stage.bed.sim.setPicture(bob, jpeg)
    for (const chat of [byPhone, byLid]) {
      const picture = await pictureOf(session, chat)
      ids.add(picture.id)
      assert.deepEqual(await picture.read(), jpeg)
    }
  }
  assert.equal(ids.size, 2)
  assert.deepEqual(stage.bed.sim.log.violations, [])
})

test('the picture of a group is found', async () => {
  await using stage = await open()
  const { phone, bob, session } = await online(stage.bed)
  const group = stage.bed.sim.group('Team', bob, [phone])
  const jpeg = randomBytes(900)
  stage.bed.sim.setPicture(group, jpeg)
  assert.deepEqual(await bytesOf(session, { kind: 'group', id: group.jid.split('@')[0] ?? '' }), jpeg)
})

test('a picture that does not exist is told apart from one that is hidden', async () => {
  await using stage = await open()
  const { session } = await online(stage.bed)
  assert.equal(await session.profilePicture(byPhone), 'none')
  for (const [code, text] of [
    [401, 'not-authorized'],
    [403, 'forbidden'],
  ] as const) {
    const restore = stage.bed.sim.router.override(question, () => {
      throw new IqError(code, text)
    })
    assert.equal(await session.profilePicture(byPhone), 'hidden')
    restore()
  }
  stage.bed.sim.router.override(question, () => [])
  assert.equal(await session.profilePicture(byPhone), 'none')
})

test('a rate limit of the network is told apart from other refusals', async () => {
  await using stage = await open()
  const { session } = await online(stage.bed)
  const restore = stage.bed.sim.router.override(question, () => {
    throw new IqError(429, 'rate-overlimit')
  })
  const error = await session.profilePicture(byPhone).catch((cause: unknown) => cause)
  assert.ok(error instanceof NetworkBusyError)
  assert.equal(error.retryAfterMs, 60_000)
  restore()
  stage.bed.sim.router.override(question, () => {
    throw new IqError(500, 'internal-server-error')
  })
  await assert.rejects(session.profilePicture(byPhone), /code 500/)
})

test('a question for a picture carries the token of the person', async () => {
  await using stage = await open()
  const { phone, bob, session } = await online(stage.bed)
  const asked: string[][] = []
  stage.bed.sim.router.override(question, ({ content }) => {
    asked.push((Array.isArray(content?.content) ? content.content : []).map(({ tag }) => tag))
    return null
  })
  await session.profilePicture(byPhone)
  bob.trust(phone)
  await waitUntil('the token is sent along', async () => {
    await session.profilePicture(byPhone)
    return asked.at(-1)?.[0] === 'tctoken'
  })
  assert.deepEqual(asked[0], [])
})

test('a picture that is too large, or that the host does not have, is an error', async () => {
  await using stage = await open()
  const { bob, session } = await online(stage.bed)
  stage.bed.sim.setPicture(bob, randomBytes(5 * 1024 * 1024 + 1))
  await assert.rejects(bytesOf(session, byPhone), /too large/)
  stage.bed.sim.router.override(question, () => [
    { tag: 'picture', attrs: { id: '1', type: 'image', url: `https://${stage.bed.sim.media.host}/none.jpg` } },
  ])
  await assert.rejects(bytesOf(session, byPhone), /answered 404/)
})

test('changes of pictures are reported for people and groups, with the new id or without one', async () => {
  await using stage = await open()
  const { phone, bob } = await online(stage.bed)
  const { sim } = stage.bed
  const group = sim.group('Team', bob, [phone])
  sim.setPicture(bob, randomBytes(10))
  const set = await stage.changes.waitFor('the new picture of Bob', ({ owner }) => owner.kind === 'person')
  assert.deepEqual(set, { owner: byPhone, pictureId: bob.user.picture?.id ?? null })
  sim.setPicture(bob, undefined)
  await stage.changes.waitFor('the removal', ({ owner, pictureId }) => owner.kind === 'person' && pictureId === null)
  sim.setPicture(group, randomBytes(10))
  const ofGroup = await stage.changes.waitFor('the picture of the group', ({ owner }) => owner.kind === 'group')
  assert.equal(ofGroup.pictureId, group.picture?.id)
})

const proxies = [
  ['an http', () => Proxy.http()],
  ['a socks5', () => Proxy.socks()],
] as const

for (const [name, start] of proxies) {
  test(`a picture is fetched through ${name} proxy, and not at all when the proxy is gone`, async () => {
    await using sim = await SimNetwork.start()
    await using proxy = await start()
    await using owned = new AsyncDisposableStack()
    const settings = { ...settingsFor(sim), proxy: proxy.url, caFile: await authorityFile(sim, owned) }
    await using stage = await open({ network: { settings } })
    const phone = sim.account({ phone: '5511999990001' })
    await storeLinked(sim, phone, (writes) => stage.bed.store.save(holdOf('a', stage.bed.epoch), 's', writes))
    const jpeg = randomBytes(900)
    sim.setPicture(sim.person({ phone: '5511888880001' }), jpeg)
    const { session } = await stage.bed.online('s')
    const picture = await pictureOf(session, byPhone)
    assert.deepEqual(await picture.read(), jpeg)
    assert.ok(proxy.targets.includes(sim.media.host))
    await proxy[Symbol.asyncDispose]()
    await assert.rejects(picture.read(), FileError)
  })
}

// Labels of an account of WhatsApp Business: none is lost and none is doubled between the network and the reception.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LabelChange, LabelNews } from '../../src/core/sync/labels.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { proto } from '../../sim/network/library.ts'
import { LeapingClock } from '../harness/leaping-clock.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { Bed } from './harness/bed.ts'

const { ListType } = proto.SyncActionValue.LabelEditAction

/** What a reception has stored: the names of the labels, and the labels of the chats. */
class Stored {
  readonly news: LabelNews[] = []
  readonly names = new Map<string, string>()
  readonly chats = new Set<string>()
  noLabels = 0
  failures = 0

  readonly reception = {
    keepsLabels: () => true,
    onNoLabels: () => {
      this.noLabels += 1
    },
    onLabels: (_: string, news: LabelNews) => {
      if (this.failures > 0) {
        this.failures -= 1
        return Promise.reject(new Error('storage is away'))
      }
      this.#take(news)
      return Promise.resolve()
    },
  }

  #take(news: LabelNews): void {
    this.news.push(news)
    if (news.isWhole) {
      this.names.clear()
      this.chats.clear()
    }
    for (const change of news.changes) this.#apply(change)
  }

  #apply(change: LabelChange): void {
    if (change.kind === 'named') this.names.set(change.labelId, change.name)
    else if (change.kind === 'deleted') this.names.delete(change.labelId)
    else if (change.isLabelled) this.chats.add(`${change.labelId} ${change.chat}`)
    else this.chats.delete(`${change.labelId} ${change.chat}`)
  }
}

async function openBed(stored: Stored, { isBusiness = true, clock = systemClock } = {}) {
  const bed = await Bed.open({ sim: { isBusiness }, clock, network: { reception: stored.reception } })
  const phone = await bed.linked('s')
  return { bed, phone, bob: bed.sim.person({ phone: '5511888880001', pushName: 'Bob' }) }
}

async function read(stored: Stored, count = 1): Promise<void> {
  await waitUntil('the labels are read', () => stored.news.length >= count, { instead: () => stored.news })
}

test('labels that were there before, and later changes, reach the reception', async () => {
  const stored = new Stored()
  const { bed: opened, phone, bob } = await openBed(stored)
  await using bed = opened
  const vip = phone.labels.create('VIP')
  phone.labels.mark(vip, bob.user.pnJid)
  // The library has read the collection before labels were listened to.
  phone.labels.create('Old')
  await bed.online('s')
  await waitUntil('both labels are known', () => stored.names.size === 2, { instead: () => stored.news })
  assert.deepEqual([...stored.chats], [`${vip} ${bob.user.pnJid}`])
  phone.labels.rename(vip, 'Very important')
  phone.labels.mark(vip, bob.user.pnJid, false)
  phone.labels.delete('2')
  await waitUntil('the changes are known', () => stored.chats.size === 0 && stored.names.size === 1)
  assert.deepEqual([...stored.names], [[vip, 'Very important']])
})

test('a connection after a failure to store reads everything again', async () => {
  const stored = new Stored()
  const { bed: opened, phone, bob } = await openBed(stored)
  await using bed = opened
  const vip = phone.labels.create('VIP')
  const line = await bed.online('s')
  await waitUntil('the label is known', () => stored.names.size === 1)
  stored.failures = Infinity
  phone.labels.mark(vip, bob.user.pnJid)
  await waitUntil('the change is not stored', () => bed.logs.withMessage('labels are not stored yet').length > 0)
  await line.session.close()
  stored.failures = 0
  const before = stored.news.length
  await bed.online('s')
  await read(stored, before + 1)
  assert.equal(stored.news[before]?.isWhole, true)
  assert.deepEqual([...stored.chats], [`${vip} ${bob.user.pnJid}`])
})

test('a connection after a connection whose changes are stored reads only what is new', async () => {
  const stored = new Stored()
  const { bed: opened, phone, bob } = await openBed(stored)
  await using bed = opened
  const vip = phone.labels.create('VIP')
  const line = await bed.online('s')
  await waitUntil('the label is known', () => stored.names.size === 1)
  await line.session.labels.refresh()
  await line.session.close()
  phone.labels.mark(vip, bob.user.pnJid)
  const before = stored.news.length
  await bed.online('s')
  await waitUntil('the change is known', () => stored.chats.size === 1)
  assert.deepEqual(
    stored.news.slice(before).filter(({ isWhole }) => isWhole),
    [],
  )
})

test('our own changes arrive at the phone and are reported as ours', async () => {
  const stored = new Stored()
  const { bed: opened, phone, bob } = await openBed(stored)
  await using bed = opened
  phone.labels.create('VIP')
  const { session } = await bed.online('s')
  await waitUntil('the labels are read', () => session.labels.isRead && stored.names.size === 1)
  await session.labels.name('2', 'Paid')
  await session.labels.mark('2', bob.user.pnJid, true)
  assert.deepEqual(phone.labels.of(bob.user.pnJid), ['Paid'])
  assert.deepEqual(
    stored.news.filter(({ isOwn }) => isOwn).flatMap(({ changes }) => changes.map(({ kind }) => kind)),
    ['named', 'chat'],
  )
  await session.labels.mark('2', bob.user.pnJid, false)
  assert.deepEqual(phone.labels.of(bob.user.pnJid), [])
  assert.equal(stored.chats.size, 0)
})

test('a change that the server refuses because another device was faster fails, and everything is read again', async () => {
  const stored = new Stored()
  const { bed: opened, phone, bob } = await openBed(stored)
  await using bed = opened
  const vip = phone.labels.create('VIP')
  const { session } = await bed.online('s')
  await waitUntil('the labels are read', () => session.labels.isRead && stored.names.size === 1)
  phone.appState.conflicts = 1
  await assert.rejects(session.labels.mark(vip, bob.user.pnJid, true), /another device/)
  assert.equal(stored.news.at(-1)?.isWhole, true)
  assert.equal(stored.chats.size, 0)
  await session.labels.mark(vip, bob.user.pnJid, true)
  assert.deepEqual(phone.labels.of(bob.user.pnJid), ['VIP'])
  phone.labels.mark(vip, bob.user.pnJid, false)
  await waitUntil('a later change of the phone is known', () => stored.chats.size === 0)
})

test('labels that cannot be read at first are read later on the same connection', async () => {
  const stored = new Stored()
  const clock = new LeapingClock()
  const { bed: opened, phone } = await openBed(stored, { clock })
  await using bed = opened
  phone.labels.create('VIP')
  bed.sim.fault({ kind: 'query_error', query: 'w:sync:app:state set sync', code: 503, times: Infinity })
  const { session } = await bed.online('s')
  const failures = () => bed.logs.withMessage('labels were not read').length
  await waitUntil('the labels are asked for again and again', async () => {
    await clock.advance(60_000)
    return failures() >= 5
  })
  bed.sim.faults.clear()
  await waitUntil('the labels are read', async () => {
    await clock.advance(60_000)
    return session.labels.isRead && stored.news.length > 0
  })
  assert.deepEqual([...stored.names.values()], ['VIP'])
})

test('the first news of a link say so, and only they', async () => {
  const stored = new Stored()
  const { bed: opened } = await openBed(stored)
  await using bed = opened
  const line = await bed.online('s')
  await read(stored)
  await line.session.labels.refresh()
  await line.session.close()
  await bed.online('s')
  await read(stored, 2)
  assert.deepEqual(
    stored.news.map(({ isNewLink }) => isNewLink),
    [true, false],
  )
})

test('lists of WhatsApp such as favourites are no labels', async () => {
  const stored = new Stored()
  const { bed: opened, phone } = await openBed(stored)
  await using bed = opened
  phone.labels.create('Favorites', { type: ListType.FAVORITES })
  phone.labels.create('New customer', { type: ListType.PREDEFINED, predefinedId: 1 })
  phone.labels.create('Mine', { type: ListType.CUSTOM })
  await bed.online('s')
  await waitUntil('the labels are known', () => stored.names.has('3'))
  assert.deepEqual([...stored.names.values()], ['New customer', 'Mine'])
})

test('an account without WhatsApp Business has no labels', async () => {
  const stored = new Stored()
  const { bed: opened, phone } = await openBed(stored, { isBusiness: false })
  await using bed = opened
  phone.labels.create('VIP')
  const { session } = await bed.online('s')
  await waitUntil('that is told', () => stored.noLabels === 1)
  assert.equal(session.labels.isRead, false)
  await assert.rejects(session.labels.mark('1', '5511888880001@s.whatsapp.net', true), /not read/)
  assert.deepEqual(stored.news, [])
})

// A file that could not be fetched with its message is looked for again for a day.

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import { FileError } from '../../../src/core/network.ts'
import { BridgeBed, desk, message, person } from './harness/bridge-bed.ts'
import { missing, photo } from './harness/photo.ts'

function tryLateFiles(bed: BridgeBed): Promise<void> | undefined {
  return bed.set.workers.find(({ name }) => name === 'late-files')?.tick()
}

describe('a file that', () => {
  test('comes within a day follows as a reply, also after a restart', async () => {
    await using bed = await BridgeBed.open()
    bed.download = () => Promise.reject(new FileError(false, 'not there'))
    await bed.receive(message(photo()))
    await bed.postedWithin(1, 40_000)
    await bed.settle()
    await bed.restart()
    assert.deepEqual(bed.inbound.counts(), { pending: 0, parked: 0 })
    await bed.pass(6 * 60_000)
    await tryLateFiles(bed)
    assert.equal(bed.helpdesk.messages.length, 1)
    bed.download = () => Promise.resolve(Readable.from([Buffer.from('abcd')]))
    await bed.pass(6 * 60_000)
    await tryLateFiles(bed)
    const [first, second] = bed.helpdesk.messages
    assert.deepEqual([first?.content, second?.content, second?.bytes], [missing, '', 4])
    assert.equal(second?.inReplyTo, first?.id)
    assert.equal(second?.sourceId, first?.sourceId)
    assert.equal(second?.private, false)
    assert.equal(await bed.rows(), 0)
  })

  test('comes late finds its own message, also when another person used its id', async () => {
    await using bed = await BridgeBed.open()
    bed.download = () => Promise.reject(new FileError(false, 'not there'))
    await bed.receive(message('the same id', { id: 'SAME', chat: person('551190001') }))
    await bed.posted(1)
    await bed.receive(message(photo(), { id: 'SAME', chat: person('551190002') }))
    await bed.postedWithin(2, 40_000)
    await bed.settle()
    bed.download = () => Promise.resolve(Readable.from([Buffer.from('abcd')]))
    await bed.pass(6 * 60_000)
    await tryLateFiles(bed)
    const [, photoMessage, followed] = bed.helpdesk.messages
    assert.equal(followed?.conversationId, photoMessage?.conversationId)
    assert.equal(followed?.inReplyTo, photoMessage?.id)
  })

  test('comes late does not wait for those of other instances', async () => {
    await using bed = await BridgeBed.open({ instances: ['a', 'b'] })
    bed.download = () => Promise.reject(new FileError(false, 'not there'))
    await bed.receive(message(photo({ caption: 'slow' })), 'a')
    await bed.receive(message(photo()), 'b')
    await bed.postedWithin(2, 40_000)
    await bed.settle()
    const slow = Promise.withResolvers<Readable>()
    let asked = 0
    bed.download = () => (asked++ === 0 ? slow.promise : Promise.resolve(Readable.from([Buffer.from('abcd')])))
    await bed.pass(6 * 60_000)
    const looked = tryLateFiles(bed)
    await bed.posted(3)
    slow.reject(new FileError(false, 'not there'))
    await looked
  })

  test('comes late does not wait for those of an instance that another process holds', async () => {
    await using bed = await BridgeBed.open({ instances: ['a', 'b'] })
    bed.download = () => Promise.reject(new FileError(false, 'not there'))
    for (const name of ['a', 'b']) await bed.receive(message(photo()), name)
    await bed.postedWithin(2, 40_000)
    await bed.receive(message(photo({ caption: 'another' })), 'b')
    await bed.postedWithin(3, 40_000)
    await bed.settle()
    bed.lost.add('a')
    bed.download = () => Promise.resolve(Readable.from([Buffer.from('abcd')]))
    await bed.pass(6 * 60_000)
    await tryLateFiles(bed)
    assert.equal(bed.helpdesk.messages.length, 5)
    assert.deepEqual(bed.logs.withMessage('worker run failed'), [])
  })

  test('comes late is looked for again only after storage has answered', async () => {
    await using bed = await BridgeBed.open()
    bed.download = () => Promise.reject(new FileError(false, 'not there'))
    await bed.receive(message(photo()))
    await bed.postedWithin(1, 40_000)
    await bed.settle()
    let fetched = 0
    bed.download = () => {
      fetched++
      return Promise.resolve(Readable.from([Buffer.from('abcd')]))
    }
    await bed.pass(6 * 60_000)
    const allowCompletions = await bed.refuseCompletions()
    let isOver = false
    const run = tryLateFiles(bed)
    void run?.then(() => (isOver = true))
    await bed.posted(2)
    await bed.pass(1000)
    assert.equal(isOver, false, 'the run waits for storage')
    await allowCompletions()
    await run
    assert.equal(await bed.rows(), 0)
    await bed.pass(20 * 60_000)
    await tryLateFiles(bed)
    assert.deepEqual([fetched, bed.helpdesk.messages.length], [1, 2])
  })

  test('belongs to another destination by now is given up, and the log says so', async () => {
    await using bed = await BridgeBed.open()
    bed.download = () => Promise.reject(new FileError(false, 'not there'))
    await bed.receive(message(photo()))
    await bed.postedWithin(1, 40_000)
    await bed.settle()
    bed.routes.set('a', { ...desk, key: 'http://new|1|1', baseUrl: 'http://new' })
    await bed.pass(6 * 60_000)
    await tryLateFiles(bed)
    assert.equal(await bed.rows(), 0)
    assert.equal(bed.logs.withMessage('a missing file was given up: its message is not at this destination').length, 1)
  })

  test('comes late is posted although the stored message of an earlier one is damaged, and that one is given up after a day', async () => {
    await using bed = await BridgeBed.open()
    bed.download = () => Promise.reject(new FileError(false, 'not there'))
    await bed.receive(message(photo()))
    await bed.receive(message(photo(), { chat: person('551190002') }))
    await bed.postedWithin(2, 40_000)
    await bed.settle()
    const { query } = bed.database
    const [oldest] = await bed.database.read(query.selectFrom('inbox').select('id').orderBy('id').limit(1))
    const damaged = query.updateTable('inbox').set({ event: Buffer.from([255, 1, 2]) as never })
    await bed.database.write(damaged.where('id', '=', oldest?.id ?? ''))
    bed.download = () => Promise.resolve(Readable.from([Buffer.from('abcd')]))
    await bed.pass(6 * 60_000)
    await tryLateFiles(bed)
    const [, second, followed] = bed.helpdesk.messages
    assert.deepEqual([followed?.bytes, followed?.inReplyTo], [4, second?.id])
    const [line] = bed.logs.withMessage('a file that was missing is still not there').slice(-1)
    assert.equal(line?.['id'], oldest?.id)
    assert.equal(await bed.rows(), 1)
    await bed.pass(24 * 3_600_000)
    await tryLateFiles(bed)
    assert.equal(await bed.rows(), 0)
  })

  test('does not come within a day is given up', async () => {
    await using bed = await BridgeBed.open()
    bed.download = () => Promise.reject(new FileError(false, 'not there'))
    await bed.receive(message(photo()))
    await bed.postedWithin(1, 40_000)
    for (let hours = 0; hours < 26; hours++) {
      await bed.pass(3_600_000)
      await tryLateFiles(bed)
    }
    assert.equal(await bed.rows(), 0)
    assert.equal(bed.helpdesk.messages.length, 1)
  })

  test('comes late finds the message of its own sender in a group', async () => {
    await using bed = await BridgeBed.open()
    bed.download = () => Promise.reject(new FileError(false, 'not there'))
    const chat = { kind: 'group' as const, id: '120363000000000001' }
    const from = (phone: string) => ({ id: 'SAME', chat, sender: { phone, lid: null } })
    await bed.receive(message('the same id', from('551190001')))
    await bed.posted(1)
    await bed.receive(message(photo(), from('551190002')))
    await bed.postedWithin(2, 40_000)
    await bed.settle()
    bed.download = () => Promise.resolve(Readable.from([Buffer.from('abcd')]))
    await bed.pass(6 * 60_000)
    await tryLateFiles(bed)
    const [, photoMessage, followed] = bed.helpdesk.messages
    assert.equal(followed?.inReplyTo, photoMessage?.id)
  })

  test('comes after its conversation was deleted is given up', async () => {
    await using bed = await BridgeBed.open()
    bed.download = () => Promise.reject(new FileError(false, 'not there'))
    await bed.receive(message(photo()))
    await bed.postedWithin(1, 40_000)
    await bed.settle()
    bed.download = () => Promise.resolve(Readable.from([Buffer.from('abcd')]))
    bed.helpdesk.script = (call) => {
      if (call === 'post') throw new DownstreamError('gone', 'no such conversation')
    }
    await bed.pass(6 * 60_000)
    await tryLateFiles(bed)
    assert.deepEqual([await bed.rows(), bed.helpdesk.messages.length], [0, 1])
  })
})

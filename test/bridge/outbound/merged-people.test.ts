// Two records of a person become one while messages to the person wait: the customer sees them in the order of acceptance.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { waitUntil } from '../../harness/wait-until.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { OutboundBed } from './harness/outbound-bed.ts'
import type { Customer } from './harness/scripted-network.ts'
import { rowOf } from './harness/views.ts'

type Options = Parameters<typeof OutboundBed.open>[0]

/** Maria has written under her anonymous id and under her phone number, and has a record and a conversation for each. */
async function openTwice(options: Options) {
  const bed = await OutboundBed.open(options)
  const maria = bed.network.person({ phone: '5511888880009', lid: '200000000000009', name: 'Maria' })
  const hears = async (from: Customer) => (await bed.hears('hello', { from })).conversationId
  const byLid = await hears({ ...maria, phone: null })
  const byPhone = await hears({ ...maria, lid: null })
  assert.notEqual(byLid, byPhone)
  return { bed, maria, byLid, byPhone, [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose]() }
}

/** The network tells that both addresses belong to one person. */
async function merge({ process, database }: OutboundBed, maria: Customer): Promise<void> {
  process.inbound.reception.onPairs('n0', [{ phone: maria.phone ?? '', lid: maria.lid ?? '' }])
  const records = () => database.read(database.query.selectFrom('people').select('id').where('instance', '=', 'n0'))
  await waitUntil('the two records are one', async () => (await records()).length === 1, { instead: records })
}

const rowsOf = ({ database }: OutboundBed) => database.read(database.query.selectFrom('outbox').select('id'))

/** The next message that is made ready stays so until it is released. */
function holdNext({ network }: OutboundBed) {
  const held = Promise.withResolvers<undefined>()
  const released = Promise.withResolvers<undefined>()
  network.whilePreparing = () => {
    network.whilePreparing = () => undefined
    held.resolve(undefined)
    return released.promise
  }
  const release = () => {
    released.resolve(undefined)
  }
  return { held: held.promise, release }
}

for (const engine of drawnEngines(import.meta.url)) {
  describe(`two records of a person become one on ${engine}`, () => {
    test('messages that wait for the connection leave in the order of acceptance', async () => {
      await using stage = await openTwice({ engine })
      const { bed, maria, byLid, byPhone } = stage
      bed.disconnect()
      await bed.write('1', {}, byPhone)
      await bed.write('2', {}, byLid)
      await bed.write('3', {}, byPhone)
      await merge(bed, maria)
      await bed.write('4', {}, byLid)
      const first = holdNext(bed)
      bed.connect()
      await first.held
      await bed.settle()
      assert.deepEqual(bed.texts(maria), [])
      first.release()
      await bed.received('4', maria)
      assert.deepEqual(bed.texts(maria), ['1', '2', '3', '4'])
      const chats = await bed.database.read(bed.database.query.selectFrom('outbox').select('chat').distinct())
      assert.equal(chats.length, 1)
    })

    test('a message that is just being sent is finished before the next one leaves', async () => {
      await using stage = await openTwice({ engine })
      const { bed, maria, byLid, byPhone } = stage
      const first = holdNext(bed)
      const written = [bed.write('1', {}, byLid)]
      await first.held
      await merge(bed, maria)
      written.push(bed.write('2', {}, byPhone))
      // Two conversations have no common order but that of acceptance.
      await waitUntil('the second is accepted', async () => (await rowsOf(bed)).length === 2)
      written.push(bed.write('3', {}, byLid))
      await bed.settle()
      assert.deepEqual(bed.texts(maria), [])
      first.release()
      await Promise.all(written)
      await bed.received('3', maria)
      assert.deepEqual(bed.texts(maria), ['1', '2', '3'])
    })

    test('a message that is being accepted keeps its place before the next one', async () => {
      const accepted = Promise.withResolvers<undefined>()
      const stored = Promise.withResolvers<undefined>()
      let steps = 0
      const onSendStep = (step: string) => {
        if (step !== 'accepted' || steps++ > 0) return Promise.resolve()
        stored.resolve(undefined)
        return accepted.promise.then(() => undefined)
      }
      await using stage = await openTwice({ engine, onSendStep })
      const { bed, maria, byLid, byPhone } = stage
      // A row that waits is queued after it is stored.
      bed.disconnect()
      const written = [bed.write('1', {}, byLid)]
      await stored.promise
      await merge(bed, maria)
      written.push(bed.write('2', {}, byPhone))
      await bed.settle()
      bed.connect()
      await bed.settle()
      assert.deepEqual(bed.texts(maria), [])
      accepted.resolve(undefined)
      await Promise.all(written)
      await bed.received('2', maria)
      assert.deepEqual(bed.texts(maria), ['1', '2'])
    })

    test('a row that is stored under the dropped chat meanwhile gets the kept chat', async () => {
      await using stage = await openTwice({ engine })
      const { bed, byLid, byPhone } = stage
      const [worker] = bed.process.outbound.perInstance
      bed.disconnect()
      const [kept, dropped] = [await bed.write('1', {}, byPhone), await bed.write('2', {}, byLid)]
      const ids = { keep: (await rowOf(bed, kept)).chat ?? '', drop: (await rowOf(bed, dropped)).chat ?? '' }
      let late = 0
      await worker.merged('n0', ids, async () => {
        late = await bed.write('3', {}, byLid)
        assert.equal((await rowOf(bed, late)).chat, ids.drop)
      })
      for (const id of [dropped, late]) assert.equal((await rowOf(bed, id)).chat, ids.keep)
    })

    test('after a restart, too', async () => {
      await using stage = await openTwice({ engine })
      const { bed, maria, byLid, byPhone } = stage
      bed.disconnect()
      for (const [index, conversation] of [byLid, byPhone, byLid].entries()) {
        await bed.write(String(index + 1), {}, conversation)
      }
      await merge(bed, maria)
      await bed.restart()
      await bed.received('3', maria)
      assert.deepEqual(bed.texts(maria), ['1', '2', '3'])
    })
  })
}

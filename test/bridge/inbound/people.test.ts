import assert from 'node:assert/strict'
import { test } from 'node:test'
import { People } from '../../../src/bridge/people/people.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { StorageError } from '../../../src/storage/engine/statement.ts'
import { PeopleStore } from '../../../src/storage/stores/people/people-store.ts'
import type { Database } from '../../../src/storage/database.ts'
import { newDatabase } from '../../harness/databases.ts'
import { BridgeBed, desk, message, person } from './harness/bridge-bed.ts'
import { holdOf, holds, nodeHold } from '../../harness/holds.ts'
import { sampleInstanceColumns } from '../../harness/samples.ts'

const noNames = { pushName: null, savedName: null, formerPhones: [] }

test('a person who is looked up while two records become one is not remembered as before', async () => {
  await using opened = await newDatabase('sqlite')
  await new LeaseStore(opened.database).acquire('me', 60_000)
  const store = new PeopleStore(opened.database)
  const held = Promise.withResolvers<undefined>()
  const find = store.find.bind(store)
  let asked = 0
  store.find = async (...about) => {
    const found = await find(...about)
    if (asked++ === 0) await held.promise
    return found
  }
  const people = new People({ store, ...holds, newId: () => 'p3', clock: systemClock })
  await store.insert(holdOf('a'), { id: 'p1', phone: '55', lid: null, ...noNames })
  await store.insert(holdOf('a'), { id: 'p2', phone: null, lid: '99', ...noNames })
  const early = people.lookUp('a', { phone: null, lid: '99' })
  const joined = people.upsert('a', { phone: '55', lid: '99' })
  for (let turn = 0; turn < 10; turn++) await find('a', { phone: '55', lid: null })
  held.resolve(undefined)
  await early
  assert.equal((await joined).id, 'p1')
  assert.equal((await people.lookUp('a', { phone: null, lid: '99' }))?.id, 'p1')
  await people.applyNames('a', { person: { phone: null, lid: '99' }, savedName: 'Mum' })
  const stored = await find('a', { phone: '55', lid: null })
  assert.deepEqual(stored, [{ id: 'p1', phone: '55', lid: '99', ...noNames, savedName: 'Mum' }])
})

test('a person whom another node stores between our look and our write is that person', async () => {
  await using opened = await newDatabase('sqlite')
  const { database } = opened
  await new LeaseStore(database).acquire('me', 60_000)
  await database.write(database.query.insertInto('instances').values(sampleInstanceColumns('a')))
  const store = new PeopleStore(database)
  const find = store.find.bind(store)
  store.find = async (...about) => {
    const found = await find(...about)
    await store.insertUnlessKnown(nodeHold(), 'a', { id: 'other', phone: '55', lid: null, ...noNames })
    return found
  }
  const people = new People({ store, ...holds, newId: () => 'own', clock: systemClock })
  assert.equal((await people.upsert('a', { phone: '55', lid: null })).id, 'other')
})

/** A person with two records, in a storage that merges them and loses the answer. */
async function twoRecords(database: Database) {
  await new LeaseStore(database).acquire('me', 60_000)
  const store = new PeopleStore(database)
  const merge = store.merge.bind(store)
  store.merge = async (...records) => {
    await merge(...records)
    throw new StorageError('unavailable', 'the answer is lost')
  }
  const people = new People({ store, ...holds, newId: () => 'p3', clock: systemClock })
  const merged: unknown[] = []
  people.onMerged((instance, ids) => merged.push({ instance, ...ids }))
  await store.insert(holdOf('a'), { id: 'p1', phone: '55', lid: null, ...noNames })
  await store.insert(holdOf('a'), { id: 'p2', phone: null, lid: '99', ...noNames })
  return { people, merged }
}

test('two records that became one without an answer of storage are told of, and are not remembered as before', async () => {
  await using opened = await newDatabase('sqlite')
  const { people, merged } = await twoRecords(opened.database)
  assert.equal((await people.lookUp('a', { phone: null, lid: '99' }))?.id, 'p2')
  await assert.rejects(people.upsert('a', { phone: '55', lid: '99' }), /the answer is lost/)
  assert.equal((await people.upsert('a', { phone: '55', lid: '99' })).id, 'p1')
  assert.equal((await people.lookUp('a', { phone: null, lid: '99' }))?.id, 'p1')
  assert.deepEqual(merged, [{ instance: 'a', keep: 'p1', drop: 'p2' }])
})

test('two that become one with one account leave what is remembered for another', async () => {
  await using bed = await BridgeBed.open({ instances: ['a', 'b'] })
  await bed.receive(message('one'))
  await bed.receive(message('by phone', { chat: person('5511900001') }), 'b')
  await bed.receive(message('by lid', { chat: { kind: 'person', phone: null, lid: '99' } }), 'b')
  await bed.posted(3)
  bed.set.reception.onPairs('b', [{ phone: '5511900001', lid: '99' }])
  await bed.settle()
  const before = bed.helpdesk.calls.length
  await bed.receive(message('two'))
  await bed.posted(4)
  assert.deepEqual(bed.helpdesk.calls.slice(before), ['post'])
})

for (const { what, left, told } of [
  { what: 'not told of after its instance has left', left: 'a', told: 0 },
  { what: 'told of after another instance has left', left: 'b', told: 1 },
]) {
  test(`a merge that storage did not answer is ${what}`, async () => {
    await using opened = await newDatabase('sqlite')
    const { people, merged } = await twoRecords(opened.database)
    await assert.rejects(people.upsert('a', { phone: '55', lid: '99' }), /the answer is lost/)
    people.leave(left)
    assert.equal((await people.upsert('a', { phone: '55', lid: '99' })).id, 'p1')
    assert.equal(merged.length, told)
  })
}

test('a message that waits while its person is merged goes to the merged person', async () => {
  await using bed = await BridgeBed.open()
  const lidOnly = { kind: 'person' as const, phone: null, lid: '99' }
  await bed.receive(message('by phone', { chat: person('5511900001') }))
  await bed.posted(1)
  bed.routes.delete('a')
  await bed.receive(message('by lid', { chat: lidOnly }))
  await bed.settle()
  bed.set.reception.onPairs('a', [{ phone: '5511900001', lid: '99' }])
  await bed.settle()
  bed.routes.set('a', desk)
  bed.set.held.releaseAll()
  await bed.posted(2)
  await bed.drained()
  assert.deepEqual(bed.helpdesk.contents, ['by phone', 'by lid'])
  assert.equal(bed.helpdesk.conversations.length, 1)
})

test('a record is current until it is changed, merged or forgotten', async () => {
  await using opened = await newDatabase('sqlite')
  await new LeaseStore(opened.database).acquire('me', 60_000)
  const store = new PeopleStore(opened.database)
  let count = 0
  const newId = () => `p${++count}`
  const people = new People({ store, ...holds, newId, clock: systemClock })
  const byPhone = await people.upsert('a', { phone: '55', lid: null }, 'Maria')
  const byLid = await people.upsert('a', { phone: null, lid: '99' })
  assert.deepEqual([people.isCurrent('a', byPhone), people.isCurrent('a', byLid)], [true, true])
  await people.applyNames('a', { person: { phone: '55', lid: null }, savedName: 'Mum' })
  assert.deepEqual([people.isCurrent('a', byPhone), people.isCurrent('a', byLid)], [false, true])
  const merged = await people.upsert('a', { phone: '55', lid: '99' })
  assert.deepEqual([people.isCurrent('a', merged), people.isCurrent('a', byLid)], [true, false])
  people.leave('a')
  assert.equal(people.isCurrent('a', merged), false)
})

/** People on a database of their own, and the same people as another process sees them. */
async function openPeople() {
  const opened = await newDatabase('sqlite')
  await new LeaseStore(opened.database).acquire('me', 60_000)
  let count = 0
  const start = () =>
    new People({
      store: new PeopleStore(opened.database),
      ...holds,
      newId: () => `p${++count}`,
      clock: systemClock,
    })
  return { start, people: start(), [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
}

const byPhone = (phone: string) => ({ phone, lid: null })

test('a former phone number leads to its person, until another person has it', async () => {
  await using stage = await openPeople()
  const { people, start } = stage
  const maria = await people.upsert('a', { phone: '551', lid: '99' }, 'Maria')
  await people.upsert('a', { phone: '552', lid: '99' })
  await people.upsert('a', { phone: '553', lid: '99' })
  for (const each of [people, start()]) {
    for (const phone of ['551', '552', '553']) {
      const found = await each.lookUp('a', byPhone(phone))
      assert.deepEqual([found?.id, found?.phone, found?.formerPhones], [maria.id, '553', ['551', '552']])
    }
    assert.deepEqual((await each.ofId('a', maria.id))?.formerPhones, ['551', '552'])
    assert.equal(await each.lookUp('b', byPhone('551')), undefined)
  }
  const heir = await people.upsert('a', { phone: '551', lid: '88' })
  for (const each of [people, start()]) {
    assert.equal((await each.lookUp('a', byPhone('551')))?.id, heir.id)
    assert.deepEqual((await each.lookUp('a', byPhone('553')))?.formerPhones, ['552'])
  }
})

test('a person who returns to a former number has it as the current one', async () => {
  await using stage = await openPeople()
  const { people, start } = stage
  for (const phone of ['551', '552', '551']) await people.upsert('a', { phone, lid: '99' })
  for (const each of [people, start()]) {
    const { phone, formerPhones } = (await each.lookUp('a', byPhone('552'))) ?? {}
    assert.deepEqual([phone, formerPhones], ['551', ['552']])
  }
})

test('a message from a former number without an anonymous id is of the person who has the number now', async () => {
  await using stage = await openPeople()
  const { people } = stage
  const maria = await people.upsert('a', { phone: '551', lid: '99' })
  await people.upsert('a', { phone: '552', lid: '99' })
  const heir = await people.upsert('a', byPhone('551'))
  assert.notEqual(heir.id, maria.id)
  assert.deepEqual((await people.lookUp('a', byPhone('552')))?.formerPhones, [])
})

test('two records that become one keep the former numbers of both', async () => {
  await using stage = await openPeople()
  const { people, start } = stage
  const merges: unknown[] = []
  people.onMerged((instance, ids) => merges.push([instance, ids]))
  await people.upsert('a', { phone: '551', lid: '99' })
  await people.upsert('a', { phone: '552', lid: '99' })
  const kept = await people.upsert('a', byPhone('553'))
  const merged = await people.upsert('a', { phone: '553', lid: '99' })
  assert.deepEqual([merged.id, merges.length], [kept.id, 1])
  for (const each of [people, start()]) {
    for (const phone of ['551', '552', '553']) {
      const found = await each.lookUp('a', byPhone(phone))
      assert.deepEqual([found?.id, found?.formerPhones], [kept.id, ['551', '552']])
    }
  }
})

test('a number that moves to another known person leaves no former number behind', async () => {
  await using stage = await openPeople()
  const { people, start } = stage
  const maria = await people.upsert('a', { phone: '551', lid: '99' })
  const eve = await people.upsert('a', { phone: '552', lid: '88' })
  await people.upsert('a', { phone: '551', lid: '88' })
  for (const each of [people, start()]) {
    const { id, formerPhones } = (await each.lookUp('a', byPhone('551'))) ?? {}
    assert.deepEqual([id, formerPhones], [eve.id, ['552']])
    const left = await each.ofId('a', maria.id)
    assert.deepEqual([left?.phone, left?.formerPhones], [null, []])
  }
})

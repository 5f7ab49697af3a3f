import assert from 'node:assert/strict'
import { test } from 'node:test'
import { People } from '../../../src/bridge/people/people.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { PeopleStore } from '../../../src/storage/stores/people/people-store.ts'
import { newDatabase } from '../../harness/databases.ts'
import { BridgeBed, message, person } from './harness/bridge-bed.ts'

const noNames = { pushName: null, savedName: null }

test('whoever is looked up while two records become one is not remembered as before', async () => {
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
  const people = new People({ store, epoch: () => 1, newId: () => 'p3', clock: systemClock, onMerged: () => undefined })
  await store.insert(1, 'a', { id: 'p1', phone: '55', lid: null, ...noNames })
  await store.insert(1, 'a', { id: 'p2', phone: null, lid: '99', ...noNames })
  const early = people.lookUp('a', { phone: null, lid: '99' })
  const joined = people.upsert('a', { phone: '55', lid: '99' })
  for (let turn = 0; turn < 10; turn++) await find('a', { phone: '55', lid: null })
  held.resolve(undefined)
  await early
  assert.equal((await joined).id, 'p1')
  assert.equal((await people.lookUp('a', { phone: null, lid: '99' }))?.id, 'p1')
  await people.applyNames('a', { person: { phone: null, lid: '99' }, savedName: 'Mum' })
  assert.equal((await store.get('a', 'p1'))?.savedName, 'Mum')
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

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { People } from '../../../src/bridge/people/people.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { LeaseStore } from '../../../src/storage/stores/lease-store.ts'
import { PeopleStore } from '../../../src/storage/stores/people/people-store.ts'
import { engines, newDatabase } from '../../harness/databases.ts'
import { holdOf, holds } from '../../harness/holds.ts'

for (const engine of engines) {
  describe(`on ${engine}`, () => {
    test('many people are looked up with one question, by phone number or by anonymous id', async () => {
      await using opened = await newDatabase(engine)
      await new LeaseStore(opened.database).acquire('me', 60_000)
      const store = new PeopleStore(opened.database)
      const asked: number[] = []
      const findAll = store.findAll.bind(store)
      store.findAll = (instance, people) => {
        asked.push(people.length)
        return findAll(instance, people)
      }
      const people = new People({ store, ...holds, newId: () => 'new', clock: systemClock })
      const record = (id: string, phone: string | null, lid: string | null) =>
        store.insert(holdOf('a'), { id, phone, lid, pushName: id, savedName: null, formerPhones: [] })
      await record('p1', '55', null)
      await record('p2', null, '99')
      await record('p3', '66', '98')
      await store.insert(holdOf('b'), {
        id: 'p4',
        phone: '77',
        lid: null,
        pushName: 'x',
        savedName: null,
        formerPhones: [],
      })
      const members = [
        { phone: '55', lid: '97' },
        { phone: '88', lid: '99' },
        { phone: null, lid: '98' },
        { phone: '77', lid: null },
        ...Array.from({ length: 2100 }, (_, n) => ({ phone: `1${n}`, lid: `2${n}` })),
      ]
      const names = async () => {
        const recordOf = await people.lookUpAll('a', members)
        return members.slice(0, 5).map((member) => recordOf(member)?.pushName)
      }
      assert.deepEqual(await names(), ['p1', 'p2', 'p3', undefined, undefined])
      assert.deepEqual(await names(), ['p1', 'p2', 'p3', undefined, undefined])
      // What is known is not asked for again.
      assert.deepEqual(asked, [2104, 2101])
      assert.equal((await people.lookUpAll('a', []))({ phone: '55', lid: null }), undefined)
      assert.equal(asked.length, 2)
    })
  })
}

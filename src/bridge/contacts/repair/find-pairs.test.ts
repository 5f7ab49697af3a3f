import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { phoneVariants } from '../../../core/phone-variants.ts'
import { findPairs } from './find-pairs.ts'
import type { ScannedContact, StatedPeople } from './find-pairs.ts'

const phone = '5511988887777'
const short = '551188887777'
const lid = '99'
const silent: StatedPeople = { phoneOfLid: new Map(), spellings: new Set() }
const stated: StatedPeople = { phoneOfLid: new Map([[lid, phone]]), spellings: new Set([phone]) }

function contact(id: number, facts: Partial<ScannedContact> = {}): ScannedContact {
  return {
    ...{ id, group: null, phone: null, isConfirmed: facts.phone !== undefined, lids: [], formerPhones: [] },
    ...{ isUsed: false, hasOurIdentifier: false, elsewhere: false, isBlocked: false, email: null },
    ...facts,
  }
}

const show = async (contacts: readonly ScannedContact[], people = silent) =>
  (await findPairs(contacts, people)).map(({ keep, drop, reason, refusal }) => [keep.id, drop.id, reason, refusal])

describe('two contacts are one person', () => {
  test('when the same phone number, anonymous id or group stands behind both', async () => {
    assert.deepEqual(await show([contact(1, { phone }), contact(2, { phone })]), [[1, 2, 'same_address', null]])
    assert.deepEqual(await show([contact(1, { lids: [lid] }), contact(2, { lids: [lid] })]), [
      [1, 2, 'same_address', null],
    ])
    assert.deepEqual(await show([contact(1, { group: '7' }), contact(2, { group: '7' })]), [
      [1, 2, 'same_address', null],
    ])
  })

  test('when the network stated that the phone number and the anonymous id belong together', async () => {
    const both = [contact(1, { lids: [lid] }), contact(2, { phone })]
    assert.deepEqual(await show(both, stated), [[2, 1, 'phone_and_lid', null]])
    assert.deepEqual(await show(both), [])
  })

  test('when a third contact names both addresses', async () => {
    assert.deepEqual(await show([contact(1, { lids: [lid] }), contact(2, { phone, lids: [lid] })]), [
      [2, 1, 'same_address', null],
    ])
  })

  test('when two spellings belong to one number, and the network uses one of them', async () => {
    const both = [contact(1, { phone: short }), contact(2, { phone })]
    assert.deepEqual(await show(both, stated), [[2, 1, 'mobile_variants', null]])
    const typed = [contact(1, { phone, isConfirmed: false }), contact(2, { phone: short })]
    assert.deepEqual(await show(typed), [[2, 1, 'mobile_variants', null]])
  })

  test('of Mexico and Argentina, too', async () => {
    for (const [one, other] of [
      ['5215512345678', '525512345678'],
      ['5491112345678', '541112345678'],
    ] as const) {
      const people = { ...silent, spellings: new Set([one]) }
      assert.deepEqual(await show([contact(1, { phone: one }), contact(2, { phone: other })], people), [
        [1, 2, 'mobile_variants', null],
      ])
    }
  })
})

describe('two contacts stay two', () => {
  test('with different phone numbers, even if they share an anonymous id', async () => {
    const two = [contact(1, { phone, lids: [lid] }), contact(2, { phone: '5511900000000', lids: [lid] })]
    assert.deepEqual(await show(two, stated), [])
    // It is not known to which of the two the anonymous id belongs.
    assert.deepEqual(await show([...two, contact(3, { lids: [lid] })]), [])
    assert.deepEqual(await show([...two, contact(3, { lids: [lid] })], stated), [[1, 3, 'same_address', null]])
  })

  test('when the network states another phone number for the anonymous id of one of them', async () => {
    const other = '5511900000000'
    // An agent typed the number: the person behind the anonymous id has another one.
    const typed = contact(2, { phone: other, lids: [lid] })
    assert.deepEqual(await show([contact(1, { phone: other }), typed]), [[1, 2, 'same_address', null]])
    assert.deepEqual(await show([contact(1, { phone: other }), typed], stated), [])
    assert.deepEqual(await show([contact(1, { phone }), typed], stated), [])
    assert.deepEqual(await show([contact(1, { phone }), contact(2, { phone: short, lids: [lid] })], stated), [
      [1, 2, 'mobile_variants', null],
    ])
  })

  test('when the network uses both spellings of a number, or none of them is known to be its own', async () => {
    const both = [contact(1, { phone: short }), contact(2, { phone })]
    const people = { ...silent, spellings: new Set([phone, short]) }
    assert.deepEqual(await show(both, people), [[1, 2, 'mobile_variants', 'two_accounts']])
    assert.deepEqual(await show(both), [[1, 2, 'mobile_variants', 'spelling_unknown']])
    const typed = both.map((each) => ({ ...each, isConfirmed: false }))
    assert.deepEqual(await show(typed), [[1, 2, 'mobile_variants', 'spelling_unknown']])
  })

  test('with different e-mail addresses, also when the second one comes with a third contact', async () => {
    const mail = (id: number, email: string) => contact(id, { phone, email })
    assert.deepEqual(await show([mail(1, 'a@x.test'), mail(2, 'b@x.test')]), [
      [1, 2, 'same_address', 'different_emails'],
    ])
    assert.deepEqual(await show([mail(1, 'a@x.test'), mail(2, 'A@x.test ')]), [[1, 2, 'same_address', null]])
    assert.deepEqual(await show([contact(1, { phone }), mail(2, 'a@x.test'), mail(3, 'b@x.test')]), [
      [1, 2, 'same_address', null],
      [1, 3, 'same_address', 'different_emails'],
    ])
  })

  test('when agents blocked one of them', async () => {
    assert.deepEqual(await show([contact(1, { phone }), contact(2, { phone, isBlocked: true })]), [
      [1, 2, 'same_address', 'one_is_blocked'],
    ])
  })

  test('when both are in another inbox too; a single one of these stays', async () => {
    const away = (id: number) => contact(id, { phone, elsewhere: true })
    assert.deepEqual(await show([contact(1, { phone }), away(2)]), [[2, 1, 'same_address', null]])
    assert.deepEqual(await show([contact(1, { phone, isUsed: true }), away(2), away(3)]), [
      [2, 1, 'same_address', null],
      [2, 3, 'same_address', 'in_other_inbox'],
    ])
  })
})

describe('which contact stays', () => {
  const better: [string, Partial<ScannedContact>, Partial<ScannedContact>][] = [
    ['the one that the service uses', { lids: [lid], isUsed: true }, { phone, hasOurIdentifier: true }],
    ['the one with a phone number', { phone }, { lids: [lid], hasOurIdentifier: true }],
    ['the one with the spelling of the network', { phone }, { phone: short, hasOurIdentifier: true }],
    ['the one with our identifier', { phone, hasOurIdentifier: true }, { phone }],
  ]
  for (const [name, good, bad] of better) {
    test(name, async () => {
      const [pair] = await show([contact(1, bad), contact(2, good)], stated)
      assert.deepEqual(pair?.slice(0, 2), [2, 1])
    })
  }

  test('otherwise the older one; all others are merged into it', async () => {
    const people = [3, 1, 2].map((id) => contact(id, { phone }))
    assert.deepEqual(await show(people), [
      [1, 2, 'same_address', null],
      [1, 3, 'same_address', null],
    ])
  })
})

describe('for any contacts', () => {
  const phones = ['5511988887777', '551188887777', '5511988887778', '5215512345678', '525512345678', '4915112345678']
  const somePhone = fc.constantFrom(...phones)
  const someLid = fc.constantFrom('1', '2', '3')
  const someContact = fc.record({
    group: fc.option(fc.constantFrom('7', '8'), { freq: 8 }),
    phone: fc.option(somePhone),
    isConfirmed: fc.boolean(),
    lids: fc.uniqueArray(someLid, { maxLength: 2 }),
    formerPhones: fc.constant([]),
    isUsed: fc.boolean(),
    hasOurIdentifier: fc.boolean(),
    elsewhere: fc.boolean(),
    isBlocked: fc.boolean(),
    email: fc.option(fc.constantFrom('a@x.test', 'b@x.test')),
  })
  const noPerson = { phone: null, lids: [] }
  const someContacts = fc
    .array(someContact, { maxLength: 12 })
    .map((all) => all.map((facts, index) => ({ id: index + 1, ...facts, ...(facts.group !== null && noPerson) })))
  const somePeople = fc
    .record({ pairs: fc.array(fc.tuple(someLid, somePhone)), spellings: fc.array(somePhone) })
    .map(({ pairs, spellings }) => ({ phoneOfLid: new Map(pairs), spellings: new Set(spellings) }))

  test('the result does not depend on their order', async () => {
    const shuffled = someContacts.chain((contacts) =>
      fc.tuple(fc.constant(contacts), fc.shuffledSubarray(contacts, { minLength: contacts.length })),
    )
    await fc.assert(
      fc.asyncProperty(shuffled, somePeople, async ([contacts, others], people) => {
        assert.deepEqual(await show(others, people), await show(contacts, people))
      }),
    )
  })

  test('what becomes one contact has one phone number, one e-mail address, and one contact of other inboxes', async () => {
    await fc.assert(
      fc.asyncProperty(someContacts, somePeople, async (contacts, people) => {
        const merges = (await findPairs(contacts, people)).filter(({ refusal }) => refusal === null)
        const dropped = merges.map(({ drop }) => drop.id)
        assert.equal(new Set(dropped).size, dropped.length, 'a contact is merged twice')
        for (const [keep, pairs] of Map.groupBy(merges, (pair) => pair.keep)) {
          assert.ok(!dropped.includes(keep.id), 'a contact that stays is merged itself')
          const all = [keep, ...pairs.map(({ drop }) => drop)]
          const numbers = new Set(
            all.flatMap((each) => (each.phone === null ? [] : phoneVariants(each.phone).sort()[0])),
          )
          assert.ok(numbers.size <= 1, 'different phone numbers')
          assert.ok(new Set(all.flatMap(({ email }) => email ?? [])).size <= 1, 'different e-mail addresses')
          assert.ok(new Set(all.map(({ group }) => group)).size === 1, 'a person and a group')
          assert.ok(
            pairs.every(({ drop }) => !drop.elsewhere),
            'a contact of another inbox is dropped',
          )
        }
      }),
    )
  })
})

test('100,000 contacts leave the event loop to others', async () => {
  const contacts = Array.from({ length: 100_000 }, (_, index) =>
    contact(index + 1, index % 2 === 0 ? { phone: String(5_511_900_000_000 + index) } : { lids: [String(index - 1)] }),
  )
  const phoneOfLid = new Map(contacts.flatMap(({ phone: number }, index) => (number ? [[String(index), number]] : [])))
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const pairs = await findPairs(contacts, { phoneOfLid, spellings: new Set() })
  isOver = true
  assert.equal(pairs.length, 50_000)
  assert.ok(turns > 10, `${turns} turns of the event loop`)
})

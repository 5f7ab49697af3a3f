// Which labels both sides have in the end.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { agreedAfter, mergeLabels } from './merge-labels.ts'
import type { LabelChanges, LabelSides } from './merge-labels.ts'

function sides(network: string, helpdesk: string): LabelSides {
  return { network: new Set(network), helpdesk: new Set(helpdesk) }
}

function apply({ network, helpdesk }: LabelSides, changes: LabelChanges): LabelSides {
  const changed = (side: ReadonlySet<string>, { add, remove }: LabelChanges['network']) =>
    new Set([...side, ...add]).difference(new Set(remove))
  return { network: changed(network, changes.network), helpdesk: changed(helpdesk, changes.helpdesk) }
}

/** What both sides have after the changes: the letters of the labels. */
function result(agreed: string, network: string, helpdesk: string): string {
  const before = sides(network, helpdesk)
  const after = apply(before, mergeLabels(new Set(agreed), before))
  assert.deepEqual([...after.network].sort(), [...after.helpdesk].sort())
  return [...after.network].sort().join('')
}

test('at first sight both sides get all labels', () => {
  assert.equal(result('', 'ab', 'bc'), 'abc')
})

test('a label that one side adds comes to the other side', () => {
  assert.equal(result('a', 'ab', 'a'), 'ab')
  assert.equal(result('a', 'a', 'ab'), 'ab')
})

test('a removal on one side wins over the old presence on the other side', () => {
  assert.equal(result('ab', 'a', 'ab'), 'a')
  assert.equal(result('ab', 'ab', 'a'), 'a')
  assert.equal(result('ab', 'a', 'b'), '')
})

test('both sides change at once', () => {
  assert.equal(result('ab', 'acd', 'bce'), 'cde')
})

const letters = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 6 }).map((all) => new Set(all))

test('both sides agree afterwards, and a second look changes nothing', () => {
  fc.assert(
    fc.property(letters, letters, letters, (agreed, network, helpdesk) => {
      const after = apply({ network, helpdesk }, mergeLabels(agreed, { network, helpdesk }))
      assert.deepEqual(after.network, new Set([...after.network].filter((each) => after.helpdesk.has(each))))
      const settled = agreedAfter(agreed, after)
      assert.deepEqual(settled, after.network)
      const none = { add: [], remove: [] }
      assert.deepEqual(mergeLabels(settled, after), { network: none, helpdesk: none })
    }),
  )
})

test('after a change that failed on one side, the next attempt has the same result', () => {
  fc.assert(
    fc.property(letters, letters, letters, fc.boolean(), (agreed, network, helpdesk, isNetworkAway) => {
      const before = { network, helpdesk }
      const changes = mergeLabels(agreed, before)
      const whole = apply(before, changes)
      const none = { add: [], remove: [] }
      const half = apply(before, isNetworkAway ? { ...changes, network: none } : { ...changes, helpdesk: none })
      const again = agreedAfter(agreed, half)
      assert.deepEqual(sorted(apply(half, mergeLabels(again, half))), sorted(whole))
    }),
  )
})

function sorted({ network, helpdesk }: LabelSides): string[][] {
  return [[...network].sort(), [...helpdesk].sort()]
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GroupChange } from '../../../core/message.ts'
import { renderGroupChanges } from './group-changes.ts'
import { textsOf } from './texts.ts'

function rendered(change: GroupChange): string {
  return renderGroupChanges([change], 'Bob', () => '', textsOf.en.change)
}

test('a timer is told in the largest unit that fits', () => {
  const told = [7 * 86_400, 36 * 3600, 120, 5].map((seconds) => rendered({ change: 'ephemeral', seconds }))
  assert.deepEqual(
    told,
    ['7 d', '36 h', '2 min', '5 s'].map((time) => `Bob set messages to disappear after ${time}`),
  )
  assert.equal(rendered({ change: 'ephemeral', seconds: 0 }), 'Bob turned off disappearing messages')
})

test('a timer that a message shows is told without an author', () => {
  const found = (seconds: number) => rendered({ change: 'ephemeral', seconds, isFound: true })
  assert.equal(found(86_400), 'Messages in this chat disappear after 1 d')
  assert.equal(found(0), 'Messages in this chat no longer disappear')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knownOf, outboxStatuses } from './outbox.ts'
import { duties, dutyOf, keptOf, knownStates, seenAs, seenStates, shownAfter, shownStates } from './shown.ts'

const ranks = { sent: 0, delivered: 1, read: 2 }
type Rank = keyof typeof ranks
const isRank = (state: string): state is Rank => state in ranks

test('every pair of what we know and what the helpdesk shows has a duty', () => {
  assert.deepEqual(Object.keys(duties), [...knownStates])
  for (const known of knownStates) assert.deepEqual(Object.keys(duties[known]), [...seenStates])
})

test('what we set agrees with what we know, and nothing is left to do afterwards', () => {
  for (const known of knownStates) {
    for (const seen of seenStates) {
      const duty = dutyOf(known, seen)
      if (!duty.startsWith('set ')) continue
      const status = duty.slice('set '.length) as Parameters<typeof shownAfter>[0]
      assert.equal(status, { open: 'sent', unsent: 'failed' }[known as string] ?? known)
      assert.equal(dutyOf(known, shownAfter(status)), 'none')
    }
  }
})

test('a status never goes backwards', () => {
  for (const known of knownStates.filter(isRank)) {
    for (const seen of seenStates.filter(isRank)) {
      const expected = ranks[seen] >= ranks[known] ? 'none' : `set ${known}`
      assert.equal(dutyOf(known, seen), expected, `${known} and ${seen}`)
    }
  }
})

test('only a message that will not be sent is sent again, and only after a Retry', () => {
  for (const known of knownStates) {
    for (const seen of seenStates) {
      assert.equal(dutyOf(known, seen) === 'send', known === 'unsent' && seen === 'retried')
    }
  }
})

test('a message is retried when it is shown as sent after its failure was shown', () => {
  const seen = shownStates.map((before) => [before, seenAs('sent', before, false), seenAs('sent', before, true)])
  assert.deepEqual(seen, [
    ['unsure', 'sent', 'retried'],
    ['sent', 'sent', 'sent'],
    ['delivered', 'sent', 'sent'],
    ['read', 'sent', 'sent'],
    ['failed', 'retried', 'retried'],
    ['told', 'retried', 'retried'],
  ])
})

test('a look that finds a failure or no message, and what the row keeps of a look', () => {
  const failed = shownStates.filter((before) => seenAs('failed', before, true) === 'failed')
  assert.deepEqual(failed, ['unsure', 'sent', 'delivered', 'read', 'failed'])
  assert.equal(seenAs('failed', 'told', true), 'told')
  for (const before of shownStates) assert.equal(seenAs(null, before, true), 'gone')
  assert.deepEqual(
    seenStates.filter((seen) => seen !== 'gone' && keptOf(seen) !== seen),
    ['retried'],
  )
})

test('every status of a row says what is known of its message', () => {
  const known = Object.fromEntries(outboxStatuses.map((status) => [status, knownOf(status)]))
  const unsent = { failed: 'unsent', expired: 'unsent', refused: 'unsent' }
  assert.deepEqual(known, { pending: 'open', sending: 'open', sent: 'sent', ...unsent })
})

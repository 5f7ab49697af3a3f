// The checker of histories names every kind of violation, and only those.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChatHistory, History } from './harness/history.ts'
import { noViolations, violationsIn } from './harness/history-checker.ts'

const confirmed = (...ids: string[]) => ids.map((id) => ({ id, isConfirmed: true }))

const calmChat: ChatHistory = {
  name: 'maria',
  inbound: { written: confirmed('i1', 'i2', 'i3'), arrived: ['i1', 'i2', 'i3'] },
  outbound: { written: confirmed('o1', 'o2', 'o3'), arrived: ['o1', 'o2', 'o3'] },
  conversations: [1],
}

const calm: History = {
  chats: [calmChat],
  idsAtHelpdesk: ['i1', 'i2', 'i3'],
  unreadable: [],
  reusedSteps: [],
  replaced: [],
  stops: [],
}

const withChat = (changes: Partial<ChatHistory>): History => ({ ...calm, chats: [{ ...calmChat, ...changes }] })

test('a history without faults has no violations', () => {
  assert.deepEqual(violationsIn(calm), noViolations)
})

for (const direction of ['inbound', 'outbound'] as const) {
  const [first, second, third] = direction === 'inbound' ? ['i1', 'i2', 'i3'] : ['o1', 'o2', 'o3']
  const arriving = (...arrived: string[]) =>
    violationsIn(withChat({ [direction]: { written: confirmed(first, second, third), arrived } }))
  const faults = (changes: object) => ({
    ...noViolations,
    [direction]: { ...noViolations[direction], ...changes },
  })

  test(`${direction}: a confirmed message that did not arrive is lost`, () => {
    assert.deepEqual(arriving(first, third), faults({ lost: [`maria: ${second}`] }))
  })

  test(`${direction}: a message that arrived twice is doubled`, () => {
    assert.deepEqual(arriving(first, second, second, third), faults({ doubled: [`maria: ${second}`] }))
  })

  test(`${direction}: a message that arrived after a later one is out of order`, () => {
    assert.deepEqual(arriving(first, third, second), faults({ outOfOrder: [`maria: ${second}`] }))
  })

  test(`${direction}: a message of another chat is misplaced`, () => {
    assert.deepEqual(arriving(first, second, third, 'x'), faults({ misplaced: ['maria: x'] }))
  })
}

test('an agent’s message that the service did not accept may be missing or late', () => {
  const written = [...confirmed('o1'), { id: 'o2', isConfirmed: false }, ...confirmed('o3')]
  for (const arrived of [
    ['o1', 'o3'],
    ['o1', 'o3', 'o2'],
  ])
    assert.deepEqual(violationsIn(withChat({ outbound: { written, arrived } })), noViolations)
})

test('an agent’s message that the service did not accept must not arrive twice', () => {
  const outbound = { written: [{ id: 'o1', isConfirmed: false }], arrived: ['o1', 'o1'] }
  assert.deepEqual(violationsIn(withChat({ outbound })).outbound.doubled, ['maria: o1'])
})

test('a message that WhatsApp would deliver again is named as unconfirmed, not as lost', () => {
  const inbound = { written: [...confirmed('i1'), { id: 'i2', isConfirmed: false }], arrived: ['i1'] }
  assert.deepEqual(violationsIn(withChat({ inbound })), { ...noViolations, unconfirmed: ['maria: i2'] })
})

test('an id that the helpdesk has in two chats is named', () => {
  const idsTwice = violationsIn({ ...calm, idsAtHelpdesk: ['i1', 'i2', 'i3', 'i2'] }).idsTwice
  assert.deepEqual(idsTwice, ['i2'])
})

test('a second conversation of a customer is named', () => {
  assert.deepEqual(violationsIn(withChat({ conversations: [1, 4] })).secondConversations, ['maria: 1, 4'])
})

test('unreadable messages and reused steps are named', () => {
  const found = violationsIn({ ...calm, unreadable: ['maria: m1'], reusedSteps: ['n0: m2'] })
  assert.deepEqual([found.unreadable, found.reusedSteps], [['maria: m1'], ['n0: m2']])
})

test('a replaced connection is a second socket, unless a process stood still at that time', () => {
  const replaced = [{ account: 'n0', at: 10 }]
  assert.deepEqual(violationsIn({ ...calm, replaced }).secondSockets, ['n0'])
  assert.deepEqual(violationsIn({ ...calm, replaced, stops: [{ from: 11, until: 20 }] }).secondSockets, ['n0'])
  assert.deepEqual(violationsIn({ ...calm, replaced, stops: [{ from: 1, until: 9 }] }).secondSockets, ['n0'])
  assert.deepEqual(violationsIn({ ...calm, replaced, stops: [{ from: 5, until: 15 }] }).secondSockets, [])
})

test('one stop excuses one replaced connection of each account', () => {
  const replaced = [
    { account: 'n0', at: 10 },
    { account: 'n1', at: 11 },
    { account: 'n0', at: 12 },
  ]
  const stop = { from: 5, until: 15 }
  assert.deepEqual(violationsIn({ ...calm, replaced, stops: [stop] }).secondSockets, ['n0'])
  assert.deepEqual(violationsIn({ ...calm, replaced, stops: [stop, stop] }).secondSockets, [])
})

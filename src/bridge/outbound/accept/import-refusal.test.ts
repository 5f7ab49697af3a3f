import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ImportState } from '../../../core/history/import-state.ts'
import { importRefusal } from './import-refusal.ts'

const now = 1_800_000_000_000
const none: ImportState = { isHistory: false, isImporting: false, endedAt: null }
const place = { accountId: 1, inboxId: 1, conversationId: 7 }
const ofAgent = { conversation: place, isByPerson: true, writtenAt: now }
const ofBot = { ...ofAgent, isByPerson: false }

test('a conversation without history refuses nothing', () => {
  for (const message of [ofAgent, ofBot]) assert.equal(importRefusal(message, none, now), undefined)
})

test('under import and for a minute after it, every message is refused', () => {
  for (const message of [ofAgent, ofBot]) {
    const codeAt = (state: object) => importRefusal(message, { ...none, ...state }, now)?.code
    assert.equal(codeAt({ isImporting: true }), 'history_import')
    assert.equal(codeAt({ endedAt: now - 59_999 }), 'history_import')
    assert.equal(codeAt({ endedAt: now - 60_000 }), undefined)
    assert.equal(codeAt({ endedAt: now + 3_600_000 }), 'history_import', 'a time in the future counts as now')
  }
})

test('in a History conversation a message of a person is refused for a time, every other one for ever', () => {
  for (const [state, createdFor] of [
    [{ ...none, isHistory: true }, undefined],
    [none, 'history'],
  ] as const) {
    const conversation = { ...place, ...(createdFor && { createdFor, createdAt: 0 }) }
    const codeOf = (message: typeof ofBot, more: object) =>
      importRefusal({ ...message, conversation }, { ...state, ...more }, now)?.code
    assert.equal(codeOf(ofBot, { isImporting: true }), 'history_conversation')
    assert.equal(codeOf(ofBot, { endedAt: 0 }), 'history_conversation')
    assert.equal(codeOf(ofAgent, { isImporting: true }), 'history_import')
    assert.equal(codeOf(ofAgent, { endedAt: 0 }), undefined)
  }
})

test('a rule that answers the creation of a conversation is refused before the import is noted', () => {
  const codeOf = (message: typeof ofBot, createdAt: number | undefined, state = none) => {
    const conversation = { ...place, createdFor: 'chat' as const, ...(createdAt !== undefined && { createdAt }) }
    return importRefusal({ ...message, conversation }, state, now)?.code
  }
  assert.equal(codeOf(ofBot, now - 1000), 'history_import')
  assert.equal(codeOf(ofBot, undefined), 'history_import')
  assert.equal(codeOf(ofAgent, now - 1000), undefined)
  assert.equal(codeOf(ofBot, now - 300_000), undefined, 'the conversation is not new')
  assert.equal(codeOf(ofBot, now - 200_000, { ...none, endedAt: now - 60_000 }), undefined, 'the import has ended')
})

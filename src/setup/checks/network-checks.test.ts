import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instanceStates } from '../../core/instance.ts'
import type { InstanceState } from '../../core/instance.ts'
import { checkLink, checkReach, checkVersion } from './network-checks.ts'

const link = (state: InstanceState, changes = {}) =>
  checkLink({ name: 'shop', state, isLinked: true, lastError: null, ...changes })

test('only a connected account passes, and every other state has a cure', () => {
  const passing = instanceStates.filter((state) => link(state).result === 'ok')
  assert.deepEqual(passing, ['connected', 'ready'])
  for (const state of instanceStates) assert.equal(link(state).cure === null, passing.includes(state), state)
})

test('the last error is part of the sentence, and a lost link asks for a new code', () => {
  assert.match(link('logged_out', { lastError: 'the phone removed it' }).sentence, /\(the phone removed it\)$/)
  assert.match(link('logged_out').cure ?? '', /refresh-qr/)
  assert.match(
    link('qr_pending', { lastError: 'WhatsApp cannot be reached' }).cure ?? '',
    /^remove that cause, then scan/,
  )
  assert.match(link('disconnected', { isLinked: false }).cure ?? '', /refresh-qr/)
  assert.match(link('disconnected').cure ?? '', /restart/)
})

test('WhatsApp that does not answer is broken, with the reason and the cure', () => {
  const { sentence, cure } = checkReach({ by: 'none', reason: 'ENOTFOUND', cure: 'check the DNS server' })
  assert.deepEqual([checkReach({ by: 'account' }).result, checkReach({ by: 'question' }).result], ['ok', 'ok'])
  assert.deepEqual([sentence, cure], ['WhatsApp cannot be reached: ENOTFOUND', 'check the DNS server'])
})

test('a refused client version is broken, and the cure of a pinned one removes the setting', () => {
  const state = { current: '2.3000.1', worked: null, isPinned: false, isRefused: false, askedAt: null }
  assert.equal(checkVersion(state).result, 'ok')
  assert.match(checkVersion({ ...state, isRefused: true }).cure ?? '', /update the service/)
  assert.match(checkVersion({ ...state, isRefused: true, isPinned: true }).cure ?? '', /remove SERVICE_NETWORK_VERSION/)
})

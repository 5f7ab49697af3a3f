import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordedLog } from '../../test/harness/logs.ts'
import { instanceStates, transitions } from '../core/instance.ts'
import type { InstanceState, InstanceTrigger } from '../core/instance.ts'
import type { Closing } from '../core/network/closing.ts'
import { StateLog } from './state-log.ts'

const [debug, info, warn] = [20, 30, 40]
const refused: Closing = { cause: 'transient', code: null, reason: 'refused' }

function setUp() {
  const logs = new RecordedLog()
  const stateLog = new StateLog(logs.log)
  const change = (from: InstanceState, to: InstanceState, trigger: InstanceTrigger, why?: Closing) => {
    stateLog.changed({ instance: 'a', from, to, trigger }, why)
  }
  const levels = () => logs.withMessage('instance state changed').map(({ level }) => level)
  const failOnce = (closing: Closing) => {
    change('disconnected', 'connecting', 'attempt')
    stateLog.dropped(closing, false)
    change('connecting', 'disconnected', 'dropped', closing)
  }
  return { logs, stateLog, change, levels, failOnce }
}

test('every transition of the table has a reason', () => {
  const { logs, change } = setUp()
  for (const [trigger, steps] of Object.entries(transitions)) {
    for (const { from, to } of steps) for (const each of from) change(each, to, trigger as InstanceTrigger)
  }
  const lines = logs.withMessage('instance state changed')
  assert.ok(lines.length > instanceStates.length)
  assert.deepEqual(
    lines.filter(({ reason }) => typeof reason !== 'string' || reason === ''),
    [],
  )
})

test('failures that repeat are logged at debug, and a new reason or a login at info again', () => {
  const { stateLog, change, levels, failOnce } = setUp()
  stateLog.dropped({ ...refused, reason: 'broke' }, true)
  change('ready', 'disconnected', 'dropped', { ...refused, reason: 'broke' })
  for (let times = 0; times < 3; times++) failOnce(refused)
  assert.deepEqual(levels(), [info, info, info, info, debug, debug, debug])
  for (const reason of ['not found', 'refused', 'not found']) failOnce({ ...refused, reason })
  assert.deepEqual(levels().slice(7), [debug, info, info, debug, debug, debug])
  stateLog.dropped(refused, true)
  change('disconnected', 'connecting', 'attempt')
  change('connecting', 'connected', 'authenticated')
  change('connected', 'ready', 'drained')
  assert.deepEqual(levels().slice(13), [info, info, info])
})

test('a logout is a warning, and a change that changes nothing is logged at debug', () => {
  const { logs, change, levels } = setUp()
  change('ready', 'logged_out', 'invalidated', { cause: 'invalidated', code: 401, reason: 'removed' })
  change('qr_pending', 'qr_pending', 'pair')
  assert.deepEqual(levels(), [warn, debug])
  const [gone] = logs.withMessage('instance state changed')
  assert.deepEqual([gone?.['reason'], gone?.['code'], gone?.['error_code']], ['removed', 401, 'logged_out'])
})

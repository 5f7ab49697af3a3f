import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../core/downstream.ts'
import { countFailure, newProgress } from './delivery-progress.ts'

test('a refusal counts against the message only after a probe has found the destination working', () => {
  const event = { kind: 'message', content: { type: 'text', text: '' } }
  const progress = newProgress({ event } as Parameters<typeof newProgress>[0])
  const refusal = new DownstreamError('destination', 'answered 403', { status: 403 })
  const refusals = () => countFailure(progress, refusal, 0).refusals
  assert.equal(refusals(), 0)
  progress.hasProbed = true
  assert.equal(refusals(), 1)
  assert.equal(refusals(), 1, 'no probe came between')
  progress.hasProbed = true
  assert.equal(refusals(), 2)
  const silence = new DownstreamError('destination', 'no answer')
  assert.equal(countFailure(progress, silence, 0).refusals, 0, 'a silent destination has refused nothing')
})

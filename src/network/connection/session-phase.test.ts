import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SessionPhase } from './session-phase.ts'

function phaseAfter(...steps: Parameters<SessionPhase['move']>[0][]): string {
  const phase = new SessionPhase()
  for (const step of steps) phase.move(step)
  return phase.current
}

test('a connection is ready once it is authenticated and its backlog was handed over, in either order', () => {
  assert.equal(phaseAfter('authenticate'), 'authenticated')
  assert.equal(phaseAfter('authenticate', 'drain'), 'ready')
  assert.equal(phaseAfter('drain'), 'drained_early')
  assert.equal(phaseAfter('drain', 'authenticate'), 'ready')
})

test('a connection ends once, and nothing moves it afterwards', () => {
  const phase = new SessionPhase()
  assert.equal(phase.move('end'), true)
  for (const step of ['end', 'authenticate', 'drain'] as const) assert.equal(phase.move(step), false)
  assert.equal(phase.current, 'ended')
})

test('the same report twice changes nothing', () => {
  const phase = new SessionPhase()
  phase.move('authenticate')
  assert.equal(phase.move('authenticate'), false)
  phase.move('drain')
  assert.equal(phase.move('drain'), false)
})

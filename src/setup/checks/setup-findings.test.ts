import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordedLog } from '../../../test/harness/logs.ts'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { advised, broken, fine, untested } from './finding.ts'
import { destinationPart, processPart, SetupFindings } from './setup-findings.ts'

const access = { baseUrl: 'https://desk.example/x', apiToken: 't0ken', accountId: 1, inboxId: 7 }
const part = destinationPart(access)

function open() {
  const clock = new ManualClock()
  const logs = new RecordedLog()
  const findings = new SetupFindings({ clock, log: logs.log })
  const lines = () =>
    ['fails', 'has advice', 'passes again', 'is no longer needed'].map(
      (end) => logs.withMessage(`a check of the set-up ${end}`).length,
    )
  return { clock, logs, findings, lines }
}

test('a broken check is listed since its beginning and logged once; the same check passing again is logged once', async () => {
  const { clock, findings, lines, logs } = open()
  const since = clock.now()
  findings.note(part, [broken('clock', '301 s', 'set it'), fine('token', 'right')])
  await clock.advance(1000)
  findings.note(part, [broken('clock', '302 s', 'set it')])
  const shown = { destination: 'https://desk.example|1|7', name: 'clock', sentence: '302 s', cure: 'set it', since }
  assert.deepEqual(findings.list(), [shown])
  assert.deepEqual(lines(), [1, 0, 0, 0])
  findings.note(part, [fine('clock', 'agrees')])
  findings.note(part, [fine('clock', 'agrees')])
  assert.deepEqual([findings.list(), lines()], [[], [1, 0, 1, 0]])
  assert.doesNotMatch(logs.lines.join(''), /t0ken/)
})

test('advice is logged and not listed, and a check that becomes broken after it is logged again', () => {
  const { findings, lines } = open()
  findings.note(processPart, [advised('disk_space', 'almost full', 'free some')])
  assert.deepEqual([findings.list(), lines()], [[], [0, 1, 0, 0]])
  findings.note(processPart, [broken('disk_space', 'full', 'free some')])
  assert.deepEqual([findings.list().length, lines()], [1, [1, 1, 0, 0]])
})

test('a check that could not be made changes nothing', () => {
  const { findings, lines } = open()
  findings.note(part, [broken('webhook_address', 'empty', 'set it')])
  findings.note(part, [untested('webhook_address', 'the token is wrong'), untested('role', 'the token is wrong')])
  assert.deepEqual([findings.list().length, lines()], [1, [1, 0, 0, 0]])
})

test('two accesses to one place are told apart, and a part that is no longer checked is dropped', () => {
  const { findings, lines } = open()
  findings.note(part, [broken('token', 'wrong', 'set it')])
  findings.note(destinationPart({ ...access, apiToken: 'other' }), [fine('token', 'right')])
  assert.equal(findings.list().length, 1)
  findings.keepOnly(new Set([processPart.key]))
  assert.deepEqual([findings.list(), lines()], [[], [1, 0, 0, 1]])
})

test('another cure of a check that stays broken is logged, because the problem is another one', () => {
  const { findings, lines } = open()
  findings.note(part, [broken('webhook_address', 'empty', 'set it')])
  findings.note(part, [broken('webhook_address', 'elsewhere', 'set it with force')])
  findings.note(part, [broken('webhook_address', 'elsewhere', 'set it with force')])
  assert.deepEqual([findings.list().length, lines()], [1, [2, 0, 0, 0]])
  assert.deepEqual(findings.brokenKeys(), new Set([part.key]))
})

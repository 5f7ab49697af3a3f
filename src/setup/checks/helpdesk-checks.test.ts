import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DownstreamError } from '../../core/downstream.ts'
import type { InboxSettings } from '../../core/helpdesk/helpdesk-account.ts'
import type { HelpdeskFacts } from './ask-helpdesk.ts'
import { checkHelpdesk, usableInbox } from './helpdesk-checks.ts'
import type { Checked } from './helpdesk-checks.ts'
import type { CheckName, CheckResult } from './finding.ts'

const checked: Checked = {
  access: { baseUrl: 'https://desk.example/base', apiToken: 'tok3n', accountId: 1, inboxId: 7 },
  instance: 'shop',
  namedBy: 'instance',
  hasSecret: true,
}
const inbox: InboxSettings = {
  id: 7,
  name: 'WhatsApp',
  isApi: true,
  webhookUrl: '',
  secret: 's3cret',
  isLockedToSingleConversation: false,
}
const right: HelpdeskFacts = {
  installation: { answer: { version: '4.14.1', aheadMs: 0 } },
  role: { answer: 'administrator' },
  inbox: { answer: inbox },
}
const refusal = (status: number, reason = 'refused') => ({
  error: new DownstreamError('destination', reason, { status }),
})

function findingsOf(changes: Partial<HelpdeskFacts>) {
  return checkHelpdesk(checked, { ...right, ...changes })
}

function resultOf(name: CheckName, changes: Partial<HelpdeskFacts>): CheckResult | undefined {
  return findingsOf(changes).find((each) => each.name === name)?.result
}

const unreachable = { installation: refusal(502), role: null, inbox: null }

test('a helpdesk that is as it should be passes every check', () => {
  assert.deepEqual(new Set(findingsOf({}).map(({ result }) => result)), new Set(['ok']))
  assert.ok('inbox' in usableInbox(right))
})

describe('what is broken is named once, and what depends on it is not tested', () => {
  const cases: [string, Partial<HelpdeskFacts>, Partial<Record<CheckName, CheckResult>>][] = [
    [
      'unreachable',
      unreachable,
      { helpdesk_reachable: 'broken', clock: 'untested', token: 'untested', account: 'untested' },
    ],
    [
      'too old',
      { installation: { answer: { version: '3.3.0', aheadMs: 0 } } },
      { helpdesk_reachable: 'broken', token: 'ok' },
    ],
    [
      'an unreadable version',
      { installation: { answer: { version: 'x', aheadMs: 0 } } },
      { helpdesk_reachable: 'broken' },
    ],
    [
      'wrong token',
      { role: refusal(401), inbox: refusal(401) },
      { token: 'broken', account: 'untested', role: 'untested', api_inbox: 'untested' },
    ],
    ['the profile fails', { role: refusal(500) }, { token: 'broken', role: 'untested' }],
    [
      'another account',
      { role: { answer: null }, inbox: refusal(401) },
      { token: 'ok', account: 'broken', role: 'untested', api_inbox: 'untested' },
    ],
    ['a suspended account', { inbox: refusal(401) }, { account: 'broken', role: 'ok', api_inbox: 'untested' }],
    ['an agent', { role: { answer: 'agent' } }, { account: 'ok', role: 'advice', api_inbox: 'ok' }],
    [
      'an agent who is no member',
      { role: { answer: 'agent' }, inbox: refusal(401) },
      { account: 'ok', role: 'advice', api_inbox: 'broken' },
    ],
    ['no such inbox', { inbox: { answer: null } }, { account: 'ok', api_inbox: 'broken' }],
    ['another kind of inbox', { inbox: { answer: { ...inbox, isApi: false } } }, { api_inbox: 'broken' }],
    ['an inbox that fails', { inbox: refusal(500) }, { account: 'ok', api_inbox: 'broken' }],
  ]
  for (const [what, changes, expected] of cases) {
    test(what, () => {
      for (const [name, result] of Object.entries(expected))
        assert.equal(resultOf(name as CheckName, changes), result, name)
      const unhappy = findingsOf(changes).filter(({ result }) => result === 'broken' || result === 'advice')
      for (const { cure } of unhappy) assert.ok(cure)
      assert.doesNotMatch(JSON.stringify(findingsOf(changes)), /tok3n|s3cret/)
    })
  }
})

test('the settings of the inbox are checked only when there is an API inbox that the token may see', () => {
  const others = [
    unreachable,
    { inbox: { answer: null } },
    { inbox: { answer: { ...inbox, isApi: false } } },
    { role: refusal(401) },
  ]
  for (const changes of others) assert.ok('obstacle' in usableInbox({ ...right, ...changes }))
})

test('a clock that differs by a minute is advice, and by five minutes broken, on both sides', () => {
  const at = (aheadMs: number | null) => resultOf('clock', { installation: { answer: { version: '4.14.1', aheadMs } } })
  const results = [0, 59_999, 60_000, -60_000, 299_999, 300_000, -300_000, null].map(at)
  assert.deepEqual(results, ['ok', 'ok', 'advice', 'advice', 'advice', 'broken', 'broken', 'untested'])
})

test('a clock that differs by more is only advice while no secret is known, because no signature is checked then', () => {
  const facts = { ...right, installation: { answer: { version: '4.3.0', aheadMs: 600_000 } } }
  const clock = checkHelpdesk({ ...checked, hasSecret: false }, facts).find(({ name }) => name === 'clock')
  assert.equal(clock?.result, 'advice')
})

test('the cure of a wrong inbox names the setting, and the set-up call at once only if that call would replace it', () => {
  const cureOf = (namedBy: Checked['namedBy'], answer: InboxSettings | null) =>
    checkHelpdesk({ ...checked, namedBy }, { ...right, inbox: { answer } }).find(({ name }) => name === 'api_inbox')
      ?.cure
  const other = { ...inbox, isApi: false }
  const create = 'POST /api/instances/shop/inbox creates one'
  const ofInstance = 'set inbox_id of the instance to the id of an API inbox'
  assert.equal(cureOf('instance', null), `${create}; or ${ofInstance}`)
  assert.equal(cureOf('instance', other), `${ofInstance}; or set it to 0, then ${create}`)
  assert.match(cureOf('tenant', null) ?? '', /^set downstream_inbox_id of the tenant .* or set it to 0, then POST/)
  assert.match(cureOf('standard', null) ?? '', /^set DOWNSTREAM_INBOX_ID to/)
})

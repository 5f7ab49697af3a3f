import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkInbox } from './inbox-checks.ts'
import type { InboxFacts } from './inbox-checks.ts'
import type { CheckName } from './finding.ts'

const right: InboxFacts = {
  inbox: {
    id: 7,
    name: 'WhatsApp',
    isApi: true,
    webhookUrl: 'https://bridge.example/base/api/instances/shop/webhook',
    secret: 's3cret',
    isLockedToSingleConversation: false,
  },
  instance: 'shop',
  publicUrl: 'https://bridge.example/base/',
  use: 'shared',
  isAdministrator: true,
  secrets: ['older', 's3cret'],
  mode: 'new',
}

type Changes = Partial<Omit<InboxFacts, 'inbox'>> & { inbox?: Partial<InboxFacts['inbox']> }

function findingOf(name: CheckName, { inbox, ...changes }: Changes) {
  const found = checkInbox({ ...right, ...changes, inbox: { ...right.inbox, ...inbox } })
  assert.doesNotMatch(JSON.stringify(found), /s3cret|passw0rd/)
  const finding = found.find((each) => each.name === name)
  assert.ok(finding)
  return finding
}

test('an inbox that is as it should be passes every check', () => {
  assert.deepEqual(new Set(checkInbox(right).map(({ result }) => result)), new Set(['ok']))
})

describe('the webhook address', () => {
  const at = (webhookUrl: string, changes: Changes = {}) =>
    findingOf('webhook_address', { ...changes, inbox: { webhookUrl } })
  const own = right.inbox.webhookUrl

  test('that is missing, no URL, or of another protocol is broken, and the set-up call repairs it', () => {
    for (const text of ['', '  ', 'not a url', 'ftp://bridge.example/x', 'https://']) {
      const { result, cure } = at(text, { use: 'none' })
      assert.deepEqual([result, cure], ['broken', 'POST /api/instances/shop/inbox'], text)
    }
  })

  test('that leads elsewhere is broken, is shown without what may be secret in it, and needs force', () => {
    const { result, sentence, cure } = at('https://me:passw0rd@other.example/passw0rd?token=passw0rd', { use: 'none' })
    assert.equal(result, 'broken')
    assert.match(sentence, /elsewhere \(https:\/\/other\.example\),/)
    assert.match(cure ?? '', /"force": true/)
  })

  test('that names an unknown instance, or one with another inbox, is broken', () => {
    assert.match(at(own, { use: 'none' }).sentence, /unknown instance/)
    assert.match(at(own, { use: 'other' }).sentence, /another inbox/)
  })

  test('that names another instance with the same inbox is right', () => {
    const { result, sentence } = at(own.replace('shop', 'store'))
    assert.equal(result, 'ok')
    assert.match(sentence, /shared with instance store/)
  })

  test('at another host is broken, and the instance that it names repairs it', () => {
    const { result, cure } = at('https://old.example/api/instances/store/webhook')
    assert.equal(result, 'broken')
    assert.match(cure ?? '', /^POST \/api\/instances\/store\/inbox repairs it/)
  })

  test('with a password and a query at our host is right', () => {
    assert.equal(at('https://me:passw0rd@bridge.example/base/api/instances/shop/webhook?a=b').result, 'ok')
  })

  test('is not compared with a host while SERVICE_PUBLIC_URL is empty, and cures name the setting', () => {
    assert.equal(at('http://anywhere/api/instances/shop/webhook', { publicUrl: null }).result, 'ok')
    assert.match(at('', { publicUrl: null, use: 'none' }).cure ?? '', /^set SERVICE_PUBLIC_URL/)
  })
})

describe('the secret', () => {
  const results: [string, Changes, string][] = [
    ['is known', {}, 'ok'],
    ['is not known, but another one is', { secrets: ['older'] }, 'broken'],
    ['is not known, and callbacks are not verified', { secrets: [] }, 'advice'],
    ['does not exist, and none is configured', { inbox: { secret: null }, secrets: [] }, 'ok'],
    ['does not exist, but one is configured', { inbox: { secret: null } }, 'advice'],
    ['is not shown to an agent', { isAdministrator: false, inbox: { secret: null } }, 'untested'],
  ]
  for (const [what, changes, result] of results) {
    test(what, () => {
      assert.equal(findingOf('webhook_secret', changes).result, result)
    })
  }
})

test('an inbox with one conversation for each contact fits the mode reopen, and any other inbox the mode new', () => {
  const results = [false, true].flatMap((isLockedToSingleConversation) =>
    (['new', 'reopen'] as const).map(
      (mode) => findingOf('conversation_mode', { mode, inbox: { isLockedToSingleConversation } }).result,
    ),
  )
  assert.deepEqual(results, ['ok', 'advice', 'advice', 'ok'])
})

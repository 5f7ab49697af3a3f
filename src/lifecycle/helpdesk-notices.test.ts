import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../test/harness/logs.ts'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { DownstreamError } from '../core/downstream.ts'
import type { HelpdeskInbox } from '../core/downstream.ts'
import type { InstanceState } from '../core/instance.ts'
import { writeReason } from '../core/reasons/reason.ts'
import type { Locale } from '../core/reasons/sentences.ts'
import { HelpdeskNotices } from './helpdesk-notices.ts'
import { noticeTexts } from './notice-texts.ts'

function stage(state: InstanceState = 'logged_out', locale: Locale = 'en') {
  const clock = new ManualClock()
  const posted: string[] = []
  const failures: DownstreamError[] = []
  const asked: string[] = []
  const account = {
    state,
    record: { name: 'a', jid: null, lastQrMessageId: 0 },
    qr: null,
    asked: 0,
    requestPairing: () => {
      account.asked += 1
      if (account.state === 'logged_out') account.state = 'qr_pending'
      return Promise.resolve()
    },
    keepQrMessage: () => Promise.resolve(),
  }
  const inbox = {
    ensureContact: ({ sourceId }: { sourceId: string }) => Promise.resolve({ id: 1, sourceId }),
    ensureConversation: () => Promise.resolve({ id: 7 }),
    findPosted: () => Promise.resolve(null),
    post: (_: number, { content }: { content: string }) => {
      const failure = failures.shift()
      if (failure) return Promise.reject(failure)
      posted.push(content)
      return Promise.resolve({ id: posted.length })
    },
  } as unknown as HelpdeskInbox
  const notices = new HelpdeskNotices({
    find: (name) => (name === 'a' ? account : undefined),
    inboxOf: (name) => Promise.resolve(name === 'a' ? { key: 'here', inbox } : null),
    askOwner: (...instanceAndInbox) => void asked.push(instanceAndInbox.join(' ')),
    draw: () => Promise.resolve(Buffer.alloc(0)),
    localeOf: () => locale,
    unreachableMs: 60_000,
    clock,
    log: silentLog,
  })
  const strike = { event: 'strike', instance: 'a', ownerTag: '', extras: { reason: 'spam' }, deliveries: [] } as const
  return { notices, account, posted, failures, asked, clock, strike }
}

test('"qr" in any spelling asks for a code; other texts do not', async () => {
  const { notices, account } = stage()
  await notices.onOperationsMessage('a', ' QR\n', 'here')
  assert.equal(account.asked, 1)
  for (const text of ['qr please', '', 'q r', 'hello']) await notices.onOperationsMessage('a', text, 'here')
  assert.equal(account.asked, 1)
})

test('agents of another inbox cannot ask for a code', async () => {
  const { notices, account, asked } = stage()
  await notices.onOperationsMessage('a', 'qr', 'elsewhere')
  assert.deepEqual([account.asked, asked], [0, []])
})

test('the notices end while a request for a code waits for the boot of its account', async () => {
  const { notices, account } = stage()
  account.requestPairing = () => Promise.withResolvers<undefined>().promise.then()
  notices.showCode('a', 'here')
  await new Promise((resolve) => setImmediate(resolve))
  await notices[Symbol.asyncDispose]()
})

test('the code of an instance that is not here is asked of its owner, and the owner asks no other node', async () => {
  const { notices, account, asked, clock } = stage()
  await notices.onOperationsMessage('b', 'hello', 'here')
  await notices.onOperationsMessage('b', 'qr', 'here')
  notices.showCode('c', 'here')
  notices.showCode('a', 'elsewhere')
  await clock.advance(0)
  assert.deepEqual([account.asked, asked], [0, ['b here']])
  notices.showCode('a', 'here')
  await clock.advance(0)
  assert.equal(account.asked, 1)
})

test('a connected account answers with a text instead of a code', async () => {
  const { notices, posted, clock } = stage('ready')
  await notices.onOperationsMessage('a', 'qr', 'here')
  await clock.advance(0)
  assert.deepEqual(posted, [noticeTexts.en.noCode])
})

test('a notice is tried again while the helpdesk is away, and given up when it is refused', async () => {
  const { notices, posted, failures, clock, strike } = stage()
  failures.push(new DownstreamError('transient', 'away'), new DownstreamError('destination', 'away'))
  notices.heard(strike)
  await clock.advance(4999)
  assert.deepEqual(posted, [])
  await clock.advance(30_001)
  assert.deepEqual(posted, [noticeTexts.en.strike('spam')])
  failures.push(new DownstreamError('permanent', 'no'))
  notices.heard(strike)
  await clock.advance(600_000)
  assert.equal(posted.length, 1)
})

test('a notice is in the language of the agents, its reason too', async () => {
  const { notices, posted, clock } = stage('disconnected', 'es')
  const reason = writeReason('throughProxy', {
    reason: writeReason('connectionBroke', { detail: 'ECONNRESET' }),
    host: 'proxy:3128',
  })
  notices.heard({ event: 'unreachable', instance: 'a', ownerTag: '', extras: { reason, code: null }, deliveries: [] })
  await clock.advance(0)
  assert.deepEqual(posted, [
    'WhatsApp no responde desde hace 60 s (la conexión se interrumpió (ECONNRESET), a través del proxy proxy:3128). Se reintenta solo; los mensajes a los contactos esperan.',
  ])
})

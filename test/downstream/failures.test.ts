// Every way the helpdesk can fail, told apart, with a sentence that says what to do; and the breaker between.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessKey } from '../../src/core/downstream.ts'
import type { DownstreamError, DownstreamFailure } from '../../src/core/downstream.ts'
import type { Fault } from '../../sim/helpdesk/faults/fault-plan.ts'
import { LoopbackServer } from '../harness/loopback-server.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { HelpdeskBed, person, text } from './harness/helpdesk-bed.ts'

async function failureOf(work: Promise<unknown>): Promise<DownstreamError> {
  try {
    await work
  } catch (error) {
    return error as DownstreamError
  }
  throw new Error('it did not fail')
}

test('each answer of the helpdesk has its kind of failure', async () => {
  await using bed = await HelpdeskBed.start()
  const id = await bed.openChat()
  const cases: [Fault, DownstreamFailure, boolean, RegExp][] = [
    [{ kind: 'wrong_token' }, 'destination', false, /does not accept the API token/],
    [{ kind: 'not_in_account' }, 'destination', false, /does not belong to account 1/],
    [{ kind: 'account_suspended' }, 'destination', false, /suspended/],
    [{ kind: 'status', status: 402 }, 'destination', false, /402/],
    [{ kind: 'status', status: 403 }, 'destination', false, /403/],
    [{ kind: 'status', status: 404 }, 'gone', false, /conversation does not exist/],
    [{ kind: 'status', status: 400 }, 'permanent', false, /400/],
    [{ kind: 'status', status: 413 }, 'permanent', false, /body limit of the proxy/],
    [{ kind: 'status', status: 422 }, 'unexplained', false, /422/],
    [{ kind: 'status', status: 429 }, 'transient', false, /too many requests/],
    [{ kind: 'status', status: 500 }, 'transient', true, /500/],
    [{ kind: 'status', status: 502, afterCommit: true }, 'transient', true, /502/],
    [{ kind: 'cut' }, 'transient', true, /lost/],
  ]
  for (const [fault, failure, mayHaveHappened, reason] of cases) {
    await bed.helpdesk.fault({ ...fault, times: 1 })
    const error = await failureOf(bed.inbox.post(id, text('secret text')))
    assert.deepEqual([error.failure, error.mayHaveHappened], [failure, mayHaveHappened], JSON.stringify(fault))
    assert.match(error.message, reason)
    assert.doesNotMatch(error.message, new RegExp(`secret text|${bed.destination.apiToken}`))
    await bed.inbox.probe()
  }
})

test('an inbox that is no API inbox is a fault of the destination, and a probe says so too', async () => {
  await using bed = await HelpdeskBed.start()
  const website = bed.helpdesk.world.addInbox({ name: 'Website', channelType: 'Channel::WebWidget' })
  const inbox = bed.downstream.helpdesk(bed.destinationOf({ inboxId: website.id }))
  const contact = await inbox.ensureContact(person())
  const { id } = await inbox.ensureConversation(contact, 'new')
  for (const work of [() => inbox.post(id, text('x')), () => inbox.probe()]) {
    const error = await failureOf(work())
    assert.deepEqual([error.failure, error.mayHaveHappened], ['destination', false])
    assert.match(error.message, new RegExp(`inbox ${website.id} at .* is no API inbox: set the id of one`))
  }
})

test('a failed read has changed nothing at the helpdesk', async () => {
  await using bed = await HelpdeskBed.start()
  const id = await bed.openChat()
  await bed.helpdesk.fault({ kind: 'cut', times: 1 })
  assert.equal((await failureOf(bed.inbox.findConversation(id))).mayHaveHappened, false)
})

test('a refused connection is a fault of the destination; after a restart calls work again', async () => {
  await using bed = await HelpdeskBed.start()
  const id = await bed.openChat()
  const fault = await bed.helpdesk.fault({ kind: 'refused' })
  // The first one may still find the connection of before, and lose it.
  await failureOf(bed.inbox.probe())
  const error = await failureOf(bed.inbox.post(id, text('x')))
  assert.deepEqual([error.failure, error.mayHaveHappened], ['destination', false])
  await bed.helpdesk.clearFaults(fault)
  await bed.inbox.probe()
  await bed.helpdesk.restart()
  await bed.inbox.probe()
  await bed.inbox.post(id, text('x'))
})

test('an unknown host name and a forbidden address are faults of the destination', async () => {
  await using bed = await HelpdeskBed.start()
  for (const baseUrl of ['http://desk.invalid', 'http://169.254.169.254']) {
    const error = await failureOf(bed.downstream.helpdesk(bed.destinationOf({ baseUrl })).probe())
    assert.equal(error.failure, 'destination')
    assert.match(error.message, new RegExp(new URL(baseUrl).hostname.replaceAll('.', '\\.')))
  }
})

test('a slow answer within the deadline is waited for, a later one is not', async () => {
  const clock = new ManualClock()
  await using bed = await HelpdeskBed.start({ helpdesk: { clock }, downstream: { clock } })
  const id = await bed.openChat()
  await bed.helpdesk.fault({ kind: 'slow', ms: 4000, times: 1 })
  const slow = bed.inbox.post(id, text('x'))
  await bed.helpdesk.waitForHeldRequests()
  await clock.advance(4000)
  await slow
  await bed.helpdesk.fault({ kind: 'slow', ms: 6000, times: 1 })
  const late = failureOf(bed.inbox.post(id, text('x')))
  await bed.helpdesk.waitForHeldRequests()
  await clock.advance(5100)
  assert.match((await late).message, /did not answer in time/)
})

test('a server that is no Chatwoot is a fault of the destination, with every kind of answer', async () => {
  await using bed = await HelpdeskBed.start()
  const answers: [number, Record<string, string>, string, RegExp][] = [
    [200, { 'content-type': 'text/html' }, '<html>Welcome</html>', /check its URL/],
    [200, { 'content-type': 'application/json' }, '{"ok":true}', /check its URL/],
    [404, {}, '404 page not found', /not now, a Chatwoot/],
    [301, { location: 'https://desk.example/api' }, '', /redirects to https:\/\/desk\.example: set that/],
    [405, {}, '', /405/],
  ]
  for (const [status, headers, body, reason] of answers) {
    await using server = await LoopbackServer.start((_request, response) =>
      response.writeHead(status, headers).end(body),
    )
    const error = await failureOf(
      bed.downstream.helpdesk(bed.destinationOf({ baseUrl: server.url() })).post(1, text('x')),
    )
    assert.equal(error.failure, 'destination', `${status} ${body}`)
    assert.match(error.message, reason)
  }
})

test('Retry-After is passed on, in seconds and as a date', async () => {
  const clock = new ManualClock()
  await using bed = await HelpdeskBed.start({ downstream: { clock } })
  const waits = ['17', new Date(clock.now() + 30_000).toUTCString(), 'soon']
  await using server = await LoopbackServer.start((_request, response) =>
    response.writeHead(429, { 'retry-after': waits.shift() }).end('Retry later\n'),
  )
  const inbox = bed.downstream.helpdesk(bed.destinationOf({ baseUrl: server.url() }))
  const told = [17_000, 30_000, null]
  for (const ms of told) assert.equal((await failureOf(inbox.post(1, text('x')))).retryAfterMs, ms)
})

test('after five failures a destination rests, then a harmless request probes it; other destinations go on', async () => {
  const clock = new ManualClock()
  await using bed = await HelpdeskBed.start({ downstream: { clock } })
  const id = await bed.openChat()
  const other = bed.helpdesk.world.addInbox({ name: 'Other' })
  const neighbour = bed.downstream.helpdesk(bed.destinationOf({ inboxId: other.id }))
  const fault = await bed.helpdesk.fault({ kind: 'status', status: 503, path: /messages$|inboxes\/1$/ })
  for (let count = 0; count < 5; count++) await failureOf(bed.inbox.post(id, text('x')))
  const before = bed.helpdesk.requests.length
  const quick = await failureOf(bed.inbox.post(id, text('x')))
  assert.deepEqual([quick.failure, quick.mayHaveHappened, quick.status], ['transient', false, 503])
  assert.ok((quick.retryAfterMs ?? 0) > 0)
  assert.equal(bed.helpdesk.requests.length, before, 'nothing was asked')
  assert.equal(bed.downstream.resting[0]?.key, accessKey(bed.destination))
  await neighbour.ensureContact(person())
  await clock.advance(1300)
  await Promise.all(Array.from({ length: 5 }, () => failureOf(bed.inbox.post(id, text('x')))))
  assert.equal(bed.asked('POST', /messages$/), 5, 'no message is risked while it fails')
  assert.equal(bed.asked('GET', /inboxes\/1$/), 1)
  await bed.helpdesk.clearFaults(fault)
  await failureOf(bed.inbox.post(id, text('x')))
  await clock.advance(2500)
  await bed.inbox.post(id, text('back'))
  assert.deepEqual(bed.downstream.resting, [])
})

test('a refused token does not affect other tokens of the same inbox', async () => {
  await using bed = await HelpdeskBed.start()
  const stranger = bed.downstream.helpdesk(bed.destinationOf({ apiToken: 'wrong' }))
  const [refused, taken] = await Promise.allSettled([stranger, bed.inbox].map((each) => each.ensureContact(person())))
  assert.deepEqual([refused?.status, taken?.status], ['rejected', 'fulfilled'])
  for (let count = 0; count < 5; count++) await failureOf(stranger.probe())
  assert.equal(bed.downstream.resting.length, 1)
  await bed.inbox.probe()
  await bed.inbox.ensureContact(person())
  assert.equal((await failureOf(stranger.ensureContact(person()))).failure, 'destination')
})

test('a probe goes through while a destination rests, and wakes it', async () => {
  const clock = new ManualClock()
  await using bed = await HelpdeskBed.start({ downstream: { clock } })
  const id = await bed.openChat()
  const fault = await bed.helpdesk.fault({ kind: 'wrong_token' })
  for (let count = 0; count < 5; count++) await failureOf(bed.inbox.post(id, text('x')))
  assert.equal((await failureOf(bed.inbox.probe())).failure, 'destination')
  await bed.helpdesk.clearFaults(fault)
  await bed.inbox.probe()
  await bed.inbox.post(id, text('x'))
})

test('a message that always crashes the helpdesk stops other messages only for a moment', async () => {
  const clock = new ManualClock()
  await using bed = await HelpdeskBed.start({ downstream: { clock } })
  const poisoned = await bed.openChat()
  const healthy = await bed.openChat({ sourceId: '1', identifier: '1@lid', identifiers: [], phone: null, phones: [] })
  await bed.helpdesk.fault({ kind: 'status', status: 500, path: new RegExp(`/${poisoned}/messages$`) })
  for (let count = 0; count < 5; count++) await failureOf(bed.inbox.post(poisoned, text('x')))
  await clock.advance(1300)
  await failureOf(bed.inbox.post(poisoned, text('x')))
  await bed.inbox.post(healthy, text('fine'))
})

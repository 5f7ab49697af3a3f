// Faults: the answers that a bridge gets from a faulty helpdesk, and the rows in the database.

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { calm } from '../../sim/helpdesk/settings.ts'
import { SimHelpdesk } from '../../sim/helpdesk/sim-helpdesk.ts'
import { DeskClient, openChat } from './harness/desk-client.ts'
import { WebhookCatcher } from './harness/webhook-catcher.ts'

let helpdesk: SimHelpdesk
let client: DeskClient
let chat: number

before(async () => {
  helpdesk = await SimHelpdesk.start({ quirks: calm })
  client = new DeskClient(helpdesk)
})
beforeEach(async () => {
  await helpdesk.reset()
  chat = await openChat(client, '5511')
})
after(() => helpdesk[Symbol.asyncDispose]())

const post = (by = client) => by.post(`/conversations/${chat}/messages`, { content: 'x', source_id: 'WA1' })
const rows = () => helpdesk.messages(chat).filter((one) => one.sourceId === 'WA1').length
const onMessages = { method: 'POST', path: /messages$/ }

test('a status fault strikes the given number of times, before or after the commit', async () => {
  await helpdesk.fault({ kind: 'status', status: 500, times: 1, ...onMessages })
  assert.equal((await post()).status, 500)
  assert.equal(rows(), 0)
  await helpdesk.fault({ kind: 'status', status: 500, afterCommit: true, times: 1, ...onMessages })
  assert.equal((await post()).status, 500)
  assert.equal(rows(), 1)
  assert.equal((await post()).status, 200)
})

test('a throttled request gets plain text without a Retry-After', async () => {
  await helpdesk.fault({ kind: 'status', status: 429, times: 1 })
  const { status, text, headers } = await post()
  assert.deepEqual([status, text, headers.get('retry-after')], [429, 'Retry later\n', null])
})

test('a fault spares agents unless it has strikesAgents', async () => {
  const asAna = new DeskClient(helpdesk, helpdesk.world.addAgent({ name: 'Ana' }).token)
  await helpdesk.fault({ kind: 'status', status: 500 })
  assert.equal((await post()).status, 500)
  assert.equal((await post(asAna)).status, 200)
  await helpdesk.fault({ kind: 'status', status: 500, strikesAgents: true })
  assert.equal((await post(asAna)).status, 500)
})

test('a fault with a probability strikes the same requests for the same seed', async () => {
  const strikes = async () => {
    await using twin = await SimHelpdesk.start({ seed: 'chance', quirks: calm })
    const caller = new DeskClient(twin)
    await twin.fault({ kind: 'status', status: 500, probability: 0.4 })
    const statuses: number[] = []
    for (let at = 0; at < 20; at++) statuses.push((await caller.get('/contacts')).status)
    return statuses
  }
  const first = await strikes()
  assert.deepEqual(await strikes(), first)
  assert.deepEqual(new Set(first), new Set([200, 500]))
})

test('a caller that gives up finds the row later: the commit comes up to fifteen seconds late', async () => {
  await helpdesk.fault({ kind: 'timeout', commit: 'late', commitMs: [14_000, 14_000], times: 1, ...onMessages })
  const giveUp = new AbortController()
  const lost = fetch(`${helpdesk.url}/api/v1/accounts/1/conversations/${chat}/messages`, {
    method: 'POST',
    signal: giveUp.signal,
    headers: { 'Api-Access-Token': helpdesk.facts.api_token, 'Content-Type': 'application/json' },
    body: JSON.stringify({ content: 'x', source_id: 'WA1' }),
  })
  await helpdesk.waitForHeldRequests()
  giveUp.abort()
  await assert.rejects(lost, { name: 'AbortError' })
  // The clock runs by itself too: a busy machine has nine seconds for the next message.
  await helpdesk.advance(5000)
  assert.equal(rows(), 0)
  const meanwhile = await client.post(`/conversations/${chat}/messages`, { content: 'meanwhile' })
  await helpdesk.advance(9500)
  const late = await helpdesk.waitForMessage(chat, (one) => one.sourceId === 'WA1')
  assert.ok(late.id < meanwhile.body.id, 'its id is from when it began')
  assert.deepEqual(
    helpdesk.messages(chat).map((one) => one.id),
    [late.id, meanwhile.body.id],
  )
})

test('a timeout that commits at once or never gives 500 after fifteen seconds', async () => {
  for (const [commit, expected] of [
    ['at_once', 1],
    ['never', 0],
  ] as const) {
    await helpdesk.reset()
    chat = await openChat(client, '5511')
    await helpdesk.fault({ kind: 'timeout', commit, times: 1, ...onMessages })
    const answer = post()
    await helpdesk.waitForHeldRequests()
    await helpdesk.advance(15_100)
    assert.equal((await answer).status, 500)
    assert.equal(rows(), expected)
  }
})

test('a cut connection leaves a row or no row', async () => {
  await helpdesk.fault({ kind: 'cut', times: 1, ...onMessages })
  await assert.rejects(post(), /fetch failed/)
  assert.equal(rows(), 0)
  await helpdesk.fault({ kind: 'cut', afterCommit: true, times: 1, ...onMessages })
  await assert.rejects(post(), /fetch failed/)
  assert.equal(rows(), 1)
})

test('a slow answer arrives', async () => {
  await helpdesk.fault({ kind: 'slow', ms: 8000, times: 1, ...onMessages })
  const answer = post()
  await helpdesk.waitForHeldRequests()
  await helpdesk.advance(8100)
  assert.equal((await answer).status, 200)
})

test('wrong token, wrong account, suspended account and deleted inbox last until they are cleared', async () => {
  const faults = [
    [{ kind: 'wrong_token' }, 401],
    [{ kind: 'not_in_account' }, 401],
    [{ kind: 'account_suspended' }, 401],
    [{ kind: 'inbox_deleted', inboxId: 1 }, 404],
  ] as const
  for (const [fault, status] of faults) {
    const id = await helpdesk.fault(fault)
    assert.equal((await post()).status, status, fault.kind)
    assert.equal((await post()).status, status, fault.kind)
    await helpdesk.clearFaults(id)
    assert.equal((await post()).status, 200)
  }
})

test('connections are refused until the fault is cleared, then the same port accepts them', async () => {
  const { url } = helpdesk
  await helpdesk.fault({ kind: 'refused' })
  await assert.rejects(post(), /fetch failed/)
  await helpdesk.clearFaults()
  assert.equal((await post()).status, 200)
  assert.equal(helpdesk.url, url)
})

test('a restart cuts open requests, commits none of them and keeps committed rows', async () => {
  assert.equal((await post()).status, 200)
  await helpdesk.fault({ kind: 'slow', ms: 5000, times: 1, ...onMessages })
  const broken = assert.rejects(post(), /fetch failed/)
  await helpdesk.waitForHeldRequests()
  await helpdesk.restart()
  await broken
  await helpdesk.advance(10_000)
  assert.equal(rows(), 1)
  assert.equal((await post()).status, 200)
})

test('a webhook that a restart interrupts is delivered again', async () => {
  await using bridge = await WebhookCatcher.start()
  await client.patch('/inboxes/1', { channel: { webhook_url: bridge.url } })
  bridge.reply = (_, response) => {
    if (bridge.events('message_created').length > 0) response.end()
  }
  await post()
  await bridge.waitFor('message_created')
  await helpdesk.restart()
  await helpdesk.settled()
  assert.equal(bridge.events('message_created').length, 2)
  assert.equal(helpdesk.messages(chat)[0]?.status, 'sent')
})

test('a deleted conversation gives 404', async () => {
  helpdesk.world.deleteConversation(chat)
  assert.equal((await post()).status, 404)
})

test('in a storm of faults every message with a 200 is stored, and most others too', async () => {
  await using stormy = await SimHelpdesk.start({ seed: 'storm', messagesPerMinute: 100_000 })
  const caller = new DeskClient(stormy)
  const into = await openChat(caller, '5511')
  await stormy.fault({ kind: 'status', status: 500, probability: 0.1, ...onMessages })
  await stormy.fault({ kind: 'status', status: 500, afterCommit: true, probability: 0.1, ...onMessages })
  await stormy.fault({ kind: 'cut', afterCommit: true, probability: 0.1, ...onMessages })
  await stormy.fault({ kind: 'status', status: 429, probability: 0.1, ...onMessages })
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, async (_, at) => {
      const body = { content: String(at), source_id: `S${at}` }
      return caller.post(`/conversations/${into}/messages`, body).then(
        ({ status }) => status,
        () => 0,
      )
    }),
  )
  assert.deepEqual(new Set(outcomes), new Set([0, 200, 429, 500]))
  const there = new Set(stormy.messages(into).map((one) => one.sourceId))
  assert.deepEqual(
    outcomes.flatMap((status, at) => (status === 200 && !there.has(`S${at}`) ? [at] : [])),
    [],
  )
  assert.ok(there.size > outcomes.filter((status) => status === 200).length)
})

test('the proxy refuses a body that is too large', async () => {
  await using narrow = await SimHelpdesk.start({ maxBodyBytes: 10_000 })
  const { status, headers } = await new DeskClient(narrow).post('/contacts', { name: 'x'.repeat(20_000) })
  assert.deepEqual([status, headers.get('content-type')], [413, 'text/html'])
  narrow.assertNothingRefused()
})

test('disposing of a stopped helpdesk leaves nothing open', async () => {
  const short = await SimHelpdesk.start({ quirks: calm })
  const restarting = short.restart(600_000)
  await short[Symbol.asyncDispose]()
  await restarting
  await assert.rejects(new DeskClient(short).get('/contacts'), /fetch failed/)
})

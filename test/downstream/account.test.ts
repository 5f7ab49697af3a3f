// The administrator's side of the helpdesk: the installation, the role of a token, inboxes and their members.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { helpdeskVersions } from '../../sim/helpdesk/versions.ts'
import type { DownstreamError } from '../../src/core/downstream.ts'
import type { HelpdeskAccount, NewInbox } from '../../src/core/helpdesk/helpdesk-account.ts'
import { LoopbackServer } from '../harness/loopback-server.ts'
import { HelpdeskBed } from './harness/helpdesk-bed.ts'

const webhookUrl = 'https://bridge.example/api/instances/sales/webhook'
const sales: NewInbox = { name: 'Sales', webhookUrl, isLockedToSingleConversation: true }

function accountOf(bed: HelpdeskBed, changes: { apiToken?: string; accountId?: number } = {}): HelpdeskAccount {
  const { baseUrl, apiToken, accountId } = bed.destination
  return bed.downstream.account({ baseUrl, apiToken, accountId, ...changes })
}

async function refusalOf(work: Promise<unknown>): Promise<DownstreamError> {
  try {
    await work
  } catch (error) {
    return error as DownstreamError
  }
  throw new Error('the call did not fail')
}

test('an inbox is created, found, listed and changed', async () => {
  await using bed = await HelpdeskBed.start()
  const account = accountOf(bed)
  const made = await account.createInbox(sales)
  assert.deepEqual({ ...made, id: 0, secret: '' }, { ...sales, id: 0, isApi: true, secret: '' })
  assert.match(made.secret ?? '', /^\w{24}$/)
  assert.deepEqual(await account.findInbox(made.id), made)
  assert.deepEqual((await account.inboxes()).at(-1), made)

  const moved = await account.changeInbox(made.id, { webhookUrl: 'https://elsewhere.example/' })
  assert.deepEqual(moved, { ...made, webhookUrl: 'https://elsewhere.example/' })
  const unlocked = await account.changeInbox(made.id, { isLockedToSingleConversation: false })
  assert.deepEqual(unlocked, { ...moved, isLockedToSingleConversation: false })
  bed.helpdesk.assertNothingRefused()
})

test('an inbox without an address has an empty one, and another kind of inbox is no API inbox', async () => {
  await using bed = await HelpdeskBed.start()
  const website = bed.helpdesk.world.addInbox({ name: 'Website', channelType: 'Channel::WebWidget' })
  const account = accountOf(bed)
  assert.equal((await account.findInbox(1))?.webhookUrl, '')
  assert.equal((await account.findInbox(website.id))?.isApi, false)
})

test('an inbox that the account does not have is not found, also when another account has it', async () => {
  await using bed = await HelpdeskBed.start()
  const other = bed.helpdesk.world.addAccount('Other')
  const inbox = bed.helpdesk.world.addInbox({ name: 'Theirs', accountId: other.id })
  assert.equal(await accountOf(bed).findInbox(999), null)
  assert.equal(await accountOf(bed).findInbox(inbox.id), null)
  assert.match((await refusalOf(accountOf(bed).changeInbox(999, { webhookUrl }))).message, /inbox .* does not exist/)
})

test('members are added to those who are members already', async () => {
  await using bed = await HelpdeskBed.start()
  const account = accountOf(bed)
  const { id } = await account.createInbox(sales)
  const before = await account.agentIds()
  const [nina, nils] = ['Nina', 'Nils'].map((name) => bed.helpdesk.world.addAgent({ name, inboxIds: [] }))
  assert.ok(nina && nils)
  assert.deepEqual(await account.agentIds(), [...before, nina.id, nils.id])
  const inboxesOf = async (apiToken: string) => (await accountOf(bed, { apiToken }).inboxes()).map((each) => each.id)
  await account.addMembers(id, [nina.id])
  assert.deepEqual([await inboxesOf(nina.token), await inboxesOf(nils.token)], [[id], []])
  await account.addMembers(id, [nils.id])
  await account.addMembers(id, [])
  assert.deepEqual([await inboxesOf(nina.token), await inboxesOf(nils.token)], [[id], [id]])
  bed.helpdesk.assertNothingRefused()
})

for (const version of helpdeskVersions) {
  test(`Chatwoot ${version} tells its version without a token, and its secret since 4.13`, async () => {
    await using bed = await HelpdeskBed.start({ helpdesk: { version } })
    const { version: told, aheadMs } = await accountOf(bed, { apiToken: 'wrong' }).installation()
    assert.ok(told.startsWith(`${version}.`), told)
    assert.ok(aheadMs !== null && Math.abs(aheadMs) < 5000, String(aheadMs))
    const { secret } = await accountOf(bed).createInbox(sales)
    assert.equal(secret !== null, version === '4.14')
    assert.equal(await accountOf(bed).role(), 'administrator')
  })
}

test('the clock of a helpdesk that is an hour ahead shows in its answer', async () => {
  await using bed = await HelpdeskBed.start()
  await bed.helpdesk.advance(3_600_000)
  const { aheadMs } = await accountOf(bed).installation()
  assert.ok(aheadMs !== null && Math.abs(aheadMs - 3_600_000) < 5000, String(aheadMs))
})

test('the version is asked for without the token', async () => {
  await using server = await LoopbackServer.start((request, response) => {
    response.end(JSON.stringify({ version: String(request.headers['api-access-token']) }))
  })
  await using bed = await HelpdeskBed.start()
  const account = bed.downstream.account({ baseUrl: server.url(), apiToken: 'token', accountId: 1 })
  assert.equal((await account.installation()).version, 'undefined')
})

test('a server that is no Chatwoot has no version', async () => {
  await using server = await LoopbackServer.start((_, response) => {
    response.end('<html></html>')
  })
  await using bed = await HelpdeskBed.start()
  const account = bed.downstream.account({ baseUrl: server.url(), apiToken: 'token', accountId: 1 })
  assert.match((await refusalOf(account.installation())).message, /something else than a Chatwoot does: check its URL/)
})

test('an agent has a role, sees no secret, and may change nothing', async () => {
  await using bed = await HelpdeskBed.start()
  const { token: apiToken } = bed.helpdesk.agent
  const account = accountOf(bed, { apiToken })
  assert.equal(await account.role(), 'agent')
  assert.equal((await account.findInbox(1))?.secret, null)
  assert.match((await refusalOf(account.createInbox(sales))).message, /is no administrator of account 1: set the token/)
  const change = await refusalOf(account.changeInbox(1, { webhookUrl }))
  assert.match(change.message, /may not use inbox 1: make him an administrator/)
})

test('a token of another account has no role here, and one of a bot is refused', async () => {
  await using bed = await HelpdeskBed.start()
  const other = bed.helpdesk.world.addAccount('Other')
  assert.equal(await accountOf(bed, { apiToken: other.token }).role(), null)
  assert.equal(await accountOf(bed, { accountId: 99 }).role(), null)
  assert.match((await refusalOf(accountOf(bed, { accountId: 99 }).inboxes())).message, /there is no account 99 at http/)
  const bot = bed.helpdesk.world.addBot('Botty')
  assert.match((await refusalOf(accountOf(bed, { apiToken: bot.token }).role())).message, /belongs to an agent bot/)
  assert.match((await refusalOf(accountOf(bed, { apiToken: 'x' }).role())).message, /does not accept the API token/)
})

test('a suspended account has roles but no inboxes', async () => {
  await using bed = await HelpdeskBed.start()
  bed.helpdesk.world.suspendAccount(true)
  assert.equal(await accountOf(bed).role(), 'administrator')
  assert.match((await refusalOf(accountOf(bed).inboxes())).message, /account 1 at .* is suspended/)
})

test('the account is asked also while its inbox rests', async () => {
  await using bed = await HelpdeskBed.start()
  await bed.helpdesk.fault({ kind: 'status', status: 500, times: 5 })
  for (let i = 0; i < 5; i++) await refusalOf(bed.inbox.findConversation(1))
  assert.equal(bed.downstream.resting.length, 1)
  assert.equal(await accountOf(bed).role(), 'administrator')
})

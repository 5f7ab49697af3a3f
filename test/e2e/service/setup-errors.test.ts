// A set-up that cannot succeed says what to do, and changes nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noDestination } from '../../harness/destination.ts'
import { SetupWorld } from '../../harness/setup-world.ts'

async function open(options: Parameters<typeof SetupWorld.open>[0] = {}): Promise<SetupWorld> {
  const world = await SetupWorld.open(options)
  await world.create({ name: 'sales' })
  return world
}

test('without SERVICE_PUBLIC_URL the error names the setting', async () => {
  await using world = await open({ environment: { SERVICE_PUBLIC_URL: '' } })
  await world.assertRefused('sales', {}, 409, 'SERVICE_NO_PUBLIC_URL', /set SERVICE_PUBLIC_URL/)
})

test('without a helpdesk the error names the settings', async () => {
  await using world = await open()
  await world.restartService(noDestination)
  await world.assertRefused('sales', {}, 409, 'SERVICE_NO_HELPDESK', /set DOWNSTREAM_BASE_URL and DOWNSTREAM_API_TOKEN/)
})

test('each wrong token has its own sentence', async () => {
  await using world = await open()
  const { helpdesk } = world
  const other = helpdesk.world.addAccount('Other')
  const bot = helpdesk.world.addBot('Botty')
  for (const [token, status, code, sentence] of [
    [helpdesk.agent.token, 409, 'SERVICE_NOT_ADMINISTRATOR', /is no administrator of account 1 .* has the role agent/],
    [other.token, 409, 'SERVICE_NOT_ADMINISTRATOR', /does not belong to account 1/],
    [bot.token, 502, 'SERVICE_HELPDESK_FAILED', /belongs to an agent bot/],
    ['nonsense', 502, 'SERVICE_HELPDESK_FAILED', /does not accept the API token/],
  ] as const) {
    await world.restartService({ DOWNSTREAM_API_TOKEN: token })
    await world.assertRefused('sales', {}, status, code, sentence)
  }
})

test('a helpdesk that cannot be reached, or that has another account, is named', async () => {
  await using world = await open()
  await world.restartService({ DOWNSTREAM_ACCOUNT_ID: '99' })
  await world.assertRefused('sales', {}, 409, 'SERVICE_NOT_ADMINISTRATOR', /does not belong to account 99/)
  await world.restartService({ DOWNSTREAM_BASE_URL: 'http://127.0.0.1:1' })
  const answer = await world.trySetUp('sales')
  assert.deepEqual(
    [answer.status, (answer.body as { error_code: string }).error_code],
    [502, 'SERVICE_HELPDESK_FAILED'],
  )
  assert.match(answer.text, /127\.0\.0\.1:1/)
})

test('a limit of the plan is told in the words of the helpdesk', async () => {
  await using world = await open()
  const body = { error: 'Account limit exceeded. Upgrade to a higher plan' }
  await world.helpdesk.fault({ kind: 'answer', status: 402, body, method: 'POST', path: /\/inboxes$/, times: 1 })
  await world.assertRefused('sales', {}, 502, 'SERVICE_HELPDESK_FAILED', /402: Account limit exceeded/)
})

test('bad input is refused with the name of the field', async () => {
  await using world = await open()
  for (const [body, field] of [
    [{ name: 5 }, /^name /],
    [{ name: '' }, /^name /],
    [{ name: '   ' }, /^name /],
    [{ name: 'a\nb' }, /^name /],
    [{ name: 'x'.repeat(256) }, /^name /],
    [{ inbox_id: '7' }, /^inbox_id /],
    [{ inbox_id: 0 }, /^inbox_id /],
    [{ inbox_id: 1.5 }, /^inbox_id /],
    [{ inbox_id: 2 ** 31 }, /^inbox_id /],
    [{ members: 'some' }, /^members /],
    [{ members: 7 }, /^members /],
    [{ members: ['1'] }, /^members/],
    [{ members: Array.from({ length: 1001 }, (_, at) => at + 1) }, /^members /],
    [{ force: 'yes' }, /^force /],
    [[], /^the body /],
    ['{', /JSON/],
  ] as const) {
    await world.assertRefused('sales', body, 400, 'SERVICE_BAD_REQUEST', field)
  }
  assert.equal((await world.trySetUp('unknown', {})).status, 404)
  const { status } = await world.trySetUp('sales', { name: null, inbox_id: null, members: null, force: null, more: 1 })
  assert.equal(status, 200, 'null means the default, and unknown fields are ignored')
})

test('an instance with an inbox is not created when the inbox is impossible', async () => {
  await using world = await SetupWorld.open({ environment: { SERVICE_PUBLIC_URL: '' } })
  const { status, body } = await world.create({ name: 'sales', inbox: true })
  assert.partialDeepStrictEqual([status, body], [409, { error_code: 'SERVICE_NO_PUBLIC_URL' }])
  assert.equal((await world.service.get('/api/instances/sales')).status, 404)
  assert.equal((await world.create({ name: 'sales', inbox: 'yes' })).status, 400)
  assert.equal((await world.create({ name: 'sales', inbox: false })).status, 201)
})

test('an instance whose inbox fails later exists, and the error says how to go on', async () => {
  await using world = await SetupWorld.open()
  await world.helpdesk.fault({ kind: 'status', status: 500, method: 'POST', path: /\/inbox_members$/, times: 1 })
  const { status, text } = await world.create({ name: 'sales', inbox: true })
  assert.equal(status, 502)
  assert.match(text, /The instance exists, without an inbox: repeat with POST \/api\/instances\/sales\/inbox/)
  assert.equal((await world.detail('sales')).state, 'qr_pending')
  assert.equal((await world.create({ name: 'sales', inbox: true })).status, 200)
  assert.equal((await world.inboxes()).length, 1)
})

test('an instance is created with an inbox that exists', async () => {
  await using world = await SetupWorld.open()
  const { id } = await world.makeInbox(null)
  const { status, body } = await world.create({ name: 'sales', inbox: true, inbox_id: id })
  assert.partialDeepStrictEqual([status, body], [201, { inbox: { inbox_id: id, action: 'adopted' } }])
  const missing = await world.create({ name: 'support', inbox: true, inbox_id: 999 })
  assert.partialDeepStrictEqual([missing.status, missing.body], [404, { error_code: 'SERVICE_INBOX_NOT_FOUND' }])
  assert.equal(await world.inboxIdOf('support'), 0)
})

// Which helpdesk inbox a set-up uses, what it changes there, and what it leaves alone.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { tenantSettings } from '../../harness/destination.ts'
import { SetupWorld } from '../../harness/setup-world.ts'

const elsewhere = 'https://n8n.example/hooks/1'

/** A world with the instance `sales` and no inbox. */
async function open(options: Parameters<typeof SetupWorld.open>[0] = {}): Promise<SetupWorld> {
  const world = await SetupWorld.open(options)
  await world.create({ name: 'sales' })
  return world
}

describe('a set-up that is repeated', () => {
  test('finds its own inbox and creates no second one', async () => {
    await using world = await open()
    const first = await world.setUp('sales')
    const second = await world.setUp('sales')
    assert.deepEqual(second, { ...first, action: 'unchanged' })
    assert.equal((await world.inboxes()).length, 1)
    assert.deepEqual(
      (await world.audited()).map(({ metadata }) => metadata['action']),
      ['unchanged', 'created'],
    )
    world.helpdesk.assertNothingRefused()
  })

  test('makes one inbox when two calls come at the same time', async () => {
    await using world = await open()
    const outcomes = await Promise.all([world.setUp('sales'), world.setUp('sales'), world.setUp('sales')])
    assert.deepEqual(outcomes.map(({ action }) => action).sort(), ['created', 'unchanged', 'unchanged'])
    assert.equal((await world.inboxes()).length, 1)
  })

  test('makes one inbox when the helpdesk created it and its answer was lost', async () => {
    await using world = await open()
    await world.helpdesk.fault({ kind: 'cut', afterCommit: true, method: 'POST', path: /\/inboxes$/, times: 1 })
    assert.partialDeepStrictEqual(await world.setUp('sales'), { action: 'created', members: 2 })
    assert.equal((await world.inboxes()).length, 1)
  })

  test('finishes one that broke off after the inbox was created', async () => {
    await using world = await open()
    await world.helpdesk.fault({ kind: 'status', status: 500, method: 'POST', path: /\/inbox_members$/, times: 1 })
    const broken = await world.trySetUp('sales')
    assert.partialDeepStrictEqual([broken.status, broken.body], [502, { error_code: 'SERVICE_HELPDESK_FAILED' }])
    assert.equal(await world.inboxIdOf('sales'), 0)
    assert.partialDeepStrictEqual(await world.setUp('sales'), { action: 'adopted', members: 2 })
    assert.equal((await world.inboxes()).length, 1)
  })

  test('waits with a second inbox while the helpdesk may still create the first one', async () => {
    await using world = await open({ environment: { DOWNSTREAM_TIMEOUT: '1s' } })
    await world.helpdesk.fault({ kind: 'timeout', commit: 'never', method: 'POST', path: /\/inboxes$/, times: 1 })
    const sentence = /may still create the inbox; ask again in 20 s/
    await world.assertRefused('sales', {}, 502, 'SERVICE_HELPDESK_FAILED', sentence)
    await world.assertRefused('sales', {}, 502, 'SERVICE_HELPDESK_FAILED', sentence)
  })

  test('makes a new inbox after the old one was deleted', async () => {
    await using world = await open()
    const { inbox_id: old } = await world.setUp('sales')
    await world.desk.delete(`/inboxes/${old}`)
    await world.helpdesk.settled()
    const { inbox_id: id, action } = await world.setUp('sales')
    assert.equal(action, 'created')
    assert.notEqual(id, old)
    assert.equal(await world.inboxIdOf('sales'), id)
  })
})

describe('an address that drifted', () => {
  test('is repaired when SERVICE_PUBLIC_URL has changed', async () => {
    await using world = await open()
    const { inbox_id: id } = await world.setUp('sales')
    const moved = world.publicUrl.replace('127.0.0.1', 'localhost')
    await world.restartService({ SERVICE_PUBLIC_URL: `${moved}/` })
    const outcome = await world.setUp('sales')
    assert.partialDeepStrictEqual(outcome, {
      inbox_id: id,
      action: 'repaired',
      webhook_url: world.webhookOf('sales', moved),
    })
    assert.equal((await world.inbox(id)).webhook_url, world.webhookOf('sales', moved))
  })

  for (const [what, address] of [
    ['empty', ''],
    ['no URL', 'not a url'],
    ['of a kind that cannot be called', 'ftp://bridge.example/'],
  ] as const) {
    test(`is repaired when it is ${what}`, async () => {
      await using world = await open()
      const { inbox_id: id } = await world.setUp('sales')
      await world.desk.patch(`/inboxes/${id}`, { channel: { webhook_url: address } })
      assert.equal((await world.setUp('sales')).action, 'repaired')
      assert.equal((await world.inbox(id)).webhook_url, world.webhookOf('sales'))
    })
  }

  test('is repaired when it names an instance that does not exist any more', async () => {
    await using world = await open()
    const { id } = await world.makeInbox(world.webhookOf('deleted'))
    assert.equal((await world.setUp('sales', { inbox_id: id })).action, 'adopted')
    assert.equal((await world.inbox(id)).webhook_url, world.webhookOf('sales'))
  })
})

describe('an inbox that exists', () => {
  test('is adopted with its name, its members and its lock', async () => {
    await using world = await open({ environment: { SERVICE_CONVERSATION_MODE: 'reopen' } })
    const { id } = await world.makeInbox(null)
    const outcome = await world.setUp('sales', { inbox_id: id, name: 'ignored' })
    assert.deepEqual(outcome, {
      inbox_id: id,
      name: 'By hand',
      webhook_url: world.webhookOf('sales'),
      action: 'adopted',
      shared: false,
      secret_stored: true,
      members: 0,
    })
    assert.equal(await world.inboxIdOf('sales'), id)
    assert.equal((await world.inbox(id)).lock_to_single_conversation, false)
    assert.equal((await world.inboxes()).length, 1)
  })

  test('is found by its address when it was made by hand, and keeps its members', async () => {
    await using world = await open()
    const { id } = await world.makeInbox(`${world.webhookOf('sales')}/`)
    await world.desk.post('/inbox_members', { inbox_id: id, user_ids: [world.helpdesk.agent.id] })
    assert.partialDeepStrictEqual(await world.setUp('sales'), { inbox_id: id, action: 'adopted', members: 1 })
  })

  test('is not taken over without force when it calls something else', async () => {
    await using world = await open()
    const { id } = await world.makeInbox(elsewhere)
    const code = 'SERVICE_INBOX_TAKEN'
    await world.assertRefused('sales', { inbox_id: id }, 409, code, /leads to https:\/\/n8n.example\/hooks\/1: .*force/)
    assert.partialDeepStrictEqual(await world.setUp('sales', { inbox_id: id, force: true }), { action: 'adopted' })
    assert.equal((await world.inbox(id)).webhook_url, world.webhookOf('sales'))
  })

  test('is not taken over without force when another service has an instance of the same name', async () => {
    await using world = await open()
    const { id } = await world.makeInbox(world.webhookOf('sales', 'https://other.example'))
    await world.assertRefused(
      'sales',
      { inbox_id: id },
      409,
      'SERVICE_INBOX_TAKEN',
      /leads to https:\/\/other.example\//,
    )
  })

  test('is left alone also when the instance uses it and an operator made it call something else', async () => {
    await using world = await open()
    const { inbox_id: id } = await world.setUp('sales')
    await world.desk.patch(`/inboxes/${id}`, { channel: { webhook_url: elsewhere } })
    await world.assertRefused('sales', {}, 409, 'SERVICE_INBOX_TAKEN', /n8n/)
    assert.equal((await world.setUp('sales', { force: true })).action, 'repaired')
  })

  test('is shared when its address names another instance that uses it, and nothing is changed there', async () => {
    await using world = await open()
    await world.create({ name: 'support' })
    const { inbox_id: id } = await world.setUp('sales')
    const before = await world.inbox(id)
    const outcome = await world.setUp('support', { inbox_id: id })
    assert.partialDeepStrictEqual(outcome, { action: 'adopted', shared: true, webhook_url: world.webhookOf('sales') })
    assert.deepEqual(await world.inbox(id), before)
    assert.partialDeepStrictEqual(await world.setUp('support'), { action: 'unchanged', shared: true })
    assert.equal(await world.inboxIdOf('support'), id)
  })

  test('keeps leading to the instance that shares it when SERVICE_PUBLIC_URL has changed', async () => {
    await using world = await open()
    await world.create({ name: 'support' })
    const { inbox_id: id } = await world.setUp('sales')
    await world.setUp('support', { inbox_id: id })
    const moved = world.publicUrl.replace('127.0.0.1', 'localhost')
    await world.restartService({ SERVICE_PUBLIC_URL: moved })
    assert.partialDeepStrictEqual(await world.setUp('support'), { action: 'repaired', shared: true })
    assert.equal((await world.inbox(id)).webhook_url, world.webhookOf('sales', moved))
  })

  test('is not taken from an instance of ours that uses another inbox', async () => {
    await using world = await open()
    await world.create({ name: 'support', inbox: true })
    const { id } = await world.makeInbox(world.webhookOf('support'))
    const sentence = /leads to the instance support, which does not use this inbox/
    await world.assertRefused('sales', { inbox_id: id }, 409, 'SERVICE_INBOX_TAKEN', sentence)
  })

  test('is refused when it is no API inbox, or does not exist', async () => {
    await using world = await open()
    const website = world.helpdesk.world.addInbox({ name: 'Website', channelType: 'Channel::WebWidget' })
    await world.assertRefused(
      'sales',
      { inbox_id: website.id },
      409,
      'SERVICE_NOT_API_INBOX',
      /"Website"\) is no API inbox/,
    )
    await world.assertRefused(
      'sales',
      { inbox_id: 999 },
      404,
      'SERVICE_INBOX_NOT_FOUND',
      /the helpdesk has no inbox 999/,
    )
  })
})

describe('the inbox of the settings', () => {
  test('DOWNSTREAM_INBOX_ID is adopted when the instance has none', async () => {
    await using world = await open()
    const { id } = await world.makeInbox(null)
    await world.restartService({ DOWNSTREAM_INBOX_ID: String(id) })
    assert.partialDeepStrictEqual(await world.setUp('sales'), { inbox_id: id, action: 'repaired' })
    assert.equal((await world.inboxes()).length, 1)
    await world.restartService({ DOWNSTREAM_INBOX_ID: '77' })
    await world.create({ name: 'support' })
    await world.assertRefused('support', {}, 404, 'SERVICE_INBOX_NOT_FOUND', /no inbox 77: set DOWNSTREAM_INBOX_ID/)
  })

  test('DOWNSTREAM_INBOX_ID does not keep a tenant with another account from getting a new inbox', async () => {
    await using world = await open()
    const { id } = await world.makeInbox(null)
    await world.restartService({ DOWNSTREAM_INBOX_ID: String(id) })
    const other = world.helpdesk.world.addAccount('Other')
    const body = {
      ...tenantSettings(world.helpdesk, 0),
      downstream_api_token: other.token,
      downstream_account_id: other.id,
    }
    await world.service.request('PUT', '/api/tenants/other', { body })
    const created = await world.create({ name: 'support', owner_tag: 'other', inbox: true })
    assert.partialDeepStrictEqual([created.status, created.body], [201, { inbox: { action: 'created' } }], created.text)
    assert.equal((await world.setUp('support')).action, 'unchanged')
    assert.deepEqual(
      (await world.inboxes()).map((each) => each.id),
      [id],
      'the account of the service has no new inbox',
    )
  })

  test('that of the tenant outranks that of the instance', async () => {
    await using world = await open()
    const { id } = await world.makeInbox(null)
    await world.service.request('PUT', '/api/tenants/acme', { body: tenantSettings(world.helpdesk, id) })
    await world.patch('sales', { owner_tag: 'acme' })
    const sentence = /the tenant of this instance has inbox \d+, which outranks inbox 999/
    await world.assertRefused('sales', { inbox_id: 999 }, 409, 'SERVICE_INBOX_OUTRANKED', sentence)
    assert.partialDeepStrictEqual(await world.setUp('sales'), { inbox_id: id })
    assert.partialDeepStrictEqual(await world.setUp('sales', { inbox_id: id }), { action: 'unchanged' })
    assert.equal(await world.inboxIdOf('sales'), 0, 'the instance follows its tenant')
  })
})

describe('members and the lock', () => {
  test('a new inbox has all agents as members, or those that were asked for, or none', async () => {
    await using world = await open()
    const { id: nina } = world.helpdesk.world.addAgent({ name: 'Nina' })
    for (const name of ['a', 'b', 'c']) await world.create({ name })
    const all = await world.setUp('sales')
    assert.equal((await world.members(all.inbox_id)).length, 3)
    const some = await world.setUp('a', { members: [nina] })
    assert.deepEqual(await world.members(some.inbox_id), [nina])
    const none = await world.setUp('b', { members: 'none' })
    assert.deepEqual([none.members, await world.members(none.inbox_id)], [0, []])
    assert.equal((await world.setUp('b', { members: 'all' })).members, 3)
    await world.assertRefused(
      'c',
      { members: [nina, 998, 999] },
      400,
      'SERVICE_BAD_REQUEST',
      /no agent with the id 998, 999/,
    )
  })

  for (const [mode, isLocked] of [
    ['new', false],
    ['reopen', true],
  ] as const) {
    test(`the lock of a new inbox fits the conversation mode ${mode}, and force corrects it`, async () => {
      await using world = await open({ environment: { SERVICE_CONVERSATION_MODE: mode } })
      const { inbox_id: id } = await world.setUp('sales')
      assert.equal((await world.inbox(id)).lock_to_single_conversation, isLocked)
      await world.desk.patch(`/inboxes/${id}`, { lock_to_single_conversation: !isLocked })
      assert.equal((await world.setUp('sales')).action, 'unchanged')
      assert.equal((await world.inbox(id)).lock_to_single_conversation, !isLocked)
      assert.equal((await world.setUp('sales', { force: true })).action, 'repaired')
      assert.equal((await world.inbox(id)).lock_to_single_conversation, isLocked)
      await world.patch('sales', { conversation_mode: isLocked ? 'new' : 'reopen' })
      assert.equal((await world.setUp('sales', { force: true })).action, 'repaired')
      assert.equal((await world.inbox(id)).lock_to_single_conversation, !isLocked, 'the mode of the instance counts')
    })
  }

  test('a new inbox has the name that was asked for, also an odd one', async () => {
    await using world = await open()
    const name = 'Vendas São Paulo <1> "☎"'
    assert.equal((await world.setUp('sales', { name })).name, name)
  })
})

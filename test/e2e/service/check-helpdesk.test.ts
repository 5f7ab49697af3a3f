// Each check of a helpdesk and of its inbox is broken once, says what to do, and passes after its cure.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused } from '../../harness/assertions.ts'
import { tenantSettings } from '../../harness/destination.ts'
import { LeapingClock } from '../../harness/leaping-clock.ts'
import { checkOf, checkSetup, unhappy } from '../../harness/setup-report.ts'
import { World } from '../../harness/world.ts'
import type { WorldOptions } from '../../harness/world.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'

const publicUrl = 'https://bridge.example/causeway'
const addressOf = (name: string) => `${publicUrl}/api/instances/${name}/webhook`
/** What depends on the machine of the test, and on a phone. */
const aside = ['linked', 'ffmpeg', 'disk_space', 'encryption_key']

class CheckedWorld {
  readonly world: World
  readonly desk: DeskClient

  private constructor(world: World) {
    this.world = world
    this.desk = new DeskClient(world.helpdesk)
  }

  /** Instance `shop` belongs to a tenant, so that a test can change its access while the service runs. All is right. */
  static async open(options: WorldOptions = {}): Promise<CheckedWorld> {
    const environment = { SERVICE_PUBLIC_URL: publicUrl, ...options.environment }
    const self = new CheckedWorld(await World.unlinked({ ...options, environment }))
    const { service, helpdesk } = self.world
    const body = { ...tenantSettings(helpdesk), webhook_hmac_secret: helpdesk.facts.webhook_secret || null }
    await service.request('PUT', '/api/tenants/acme', { body })
    await self.world.create({ name: 'shop', owner_tag: 'acme' })
    await self.inbox({ channel: { webhook_url: addressOf('shop') } })
    return self
  }

  async tenant(changes: object): Promise<void> {
    const { status, text } = await this.world.service.request('PATCH', '/api/tenants/acme', { body: changes })
    assert.equal(status, 200, text)
  }

  async inbox(changes: object): Promise<void> {
    const { status, text } = await this.desk.patch('/inboxes/1', changes)
    assert.equal(status, 200, text)
  }

  /** The names of all checks that fail or have advice. */
  async wrong(): Promise<string[]> {
    return unhappy(await checkSetup(this.world.service, 'shop')).filter((name) => !aside.includes(name))
  }

  /** Exactly this check fails, and its sentence and cure say these words. */
  async fails(name: string, sentence: RegExp, cure: RegExp): Promise<void> {
    assert.deepEqual(await this.wrong(), [name])
    const found = checkOf(await checkSetup(this.world.service, 'shop'), name)
    assert.match(found.sentence, sentence)
    assert.match(found.cure ?? '', cure)
  }

  async passes(): Promise<void> {
    assert.deepEqual(await this.wrong(), [])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]()
  }
}

describe('the access to the helpdesk', () => {
  test('address, token, account, role and inbox are broken one after the other, and each cure cures', async () => {
    await using checked = await CheckedWorld.open()
    const { helpdesk } = checked.world
    const { url, api_token: token } = helpdesk.facts
    await checked.passes()

    await checked.tenant({ downstream_base_url: 'http://127.0.0.1:9' })
    await checked.fails('helpdesk_reachable', /127\.0\.0\.1:9/, /downstream_base_url of the tenant/)
    await checked.tenant({ downstream_base_url: url })
    await checked.passes()

    await checked.tenant({ downstream_api_token: 'no such token' })
    await checked.fails('token', /does not accept the API token/, /downstream_api_token of the tenant/)
    await checked.tenant({ downstream_api_token: helpdesk.world.addBot('Robot').token })
    await checked.fails('token', /agent bot/, /administrator/)
    const member = helpdesk.world.addAgent({ name: 'Ana', role: 'agent', inboxIds: [1] })
    await checked.tenant({ downstream_api_token: member.token })
    await checked.fails('role', /has the role agent/, /make the owner of the token an administrator/)
    const stranger = helpdesk.world.addAgent({ name: 'Eva', role: 'agent', inboxIds: [] })
    await checked.tenant({ downstream_api_token: stranger.token })
    assert.deepEqual(await checked.wrong(), ['role', 'api_inbox'])
    await checked.tenant({ downstream_api_token: token })
    await checked.passes()

    await checked.tenant({ downstream_account_id: 77 })
    await checked.fails('account', /does not belong to account 77/, /downstream_account_id of the tenant/)
    const other = helpdesk.world.addAccount('Other')
    await checked.tenant({ downstream_account_id: other.id })
    await checked.fails('account', /does not belong/, /add the owner of the token/)
    await checked.tenant({ downstream_account_id: 1 })
    helpdesk.world.suspendAccount(true)
    await checked.fails('account', /suspended/, /activate the account/)
    helpdesk.world.suspendAccount(false)
    await checked.passes()

    await checked.tenant({ downstream_inbox_id: 99 })
    await checked.fails('api_inbox', /no inbox 99/, /downstream_inbox_id of the tenant/)
    const widget = helpdesk.world.addInbox({ name: 'Site', channelType: 'Channel::WebWidget' })
    await checked.tenant({ downstream_inbox_id: widget.id })
    await checked.fails('api_inbox', /Site\) is no API inbox/, /POST \/api\/instances\/shop\/inbox/)
    await checked.tenant({ downstream_inbox_id: 1 })
    await checked.passes()
  })

  test('a Chatwoot that is too old, and one whose clock differs', async () => {
    const [clock, deskClock] = [new LeapingClock(), new LeapingClock()]
    await using checked = await CheckedWorld.open({ clock, helpdesk: { clock: deskClock } })
    const { helpdesk } = checked.world
    helpdesk.configure({ version: '3.3' })
    assert.ok((await checked.wrong()).includes('helpdesk_reachable'))
    const { sentence, cure } = checkOf(await checkSetup(checked.world.service, 'shop'), 'helpdesk_reachable')
    assert.match(`${sentence}: ${cure}`, /3\.3\.0 .* older than 3\.4 .*: update Chatwoot/)
    helpdesk.configure({ version: '4.14' })
    await checked.passes()
    await deskClock.advance(90_000)
    await checked.fails('clock', /(89|90|91) s ahead of ours; signatures are valid for 300 s/, /NTP/)
    await deskClock.advance(300_000)
    await checked.fails('clock', /signed callbacks are refused/, /set the clocks/)
    await clock.advance(390_000)
    await checked.passes()
  })

  test('an instance without a helpdesk is told to set one, and the rest is not tested', async () => {
    const environment = { DOWNSTREAM_BASE_URL: '', DOWNSTREAM_API_TOKEN: '', DOWNSTREAM_INBOX_ID: '0' }
    await using world = await World.unlinked({ environment })
    await world.create({ name: 'shop', owner_tag: 'acme' })
    const report = await checkSetup(world.service, 'shop')
    const { result, cure } = checkOf(report, 'helpdesk_configured')
    assert.deepEqual([report.ok, result], [false, 'broken'])
    assert.match(cure ?? '', /DOWNSTREAM_BASE_URL/)
    const names = ['helpdesk_reachable', 'token', 'account', 'role', 'api_inbox', 'webhook_address', 'clock']
    for (const name of names) assert.equal(checkOf(report, name).result, 'untested')
    const withoutInbox = { ...tenantSettings(world.helpdesk), downstream_inbox_id: 0 }
    await world.service.request('PUT', '/api/tenants/acme', { body: withoutInbox })
    const missing = checkOf(await checkSetup(world.service, 'shop'), 'helpdesk_configured')
    assert.match(missing.sentence, /no helpdesk inbox is configured/)
    assert.match(missing.cure ?? '', /^POST \/api\/instances\/shop\/inbox/)
    await world.service.request('PUT', '/api/tenants/acme', { body: tenantSettings(world.helpdesk) })
    assert.equal(checkOf(await checkSetup(world.service, 'shop'), 'helpdesk_configured').result, 'ok')
  })

  test('an unknown name is 404, for both methods', async () => {
    await using world = await World.unlinked()
    for (const method of ['GET', 'POST']) {
      const answer = await world.service.request(method, '/api/instances/nobody/check')
      assertRefused(answer, 'SERVICE_INSTANCE_NOT_FOUND', /nobody/)
    }
  })
})

describe('the settings of the inbox', () => {
  test('each wrong webhook address, an unknown secret and a wrong mode are named, and each cure cures', async () => {
    await using checked = await CheckedWorld.open()
    const { service } = checked.world
    const call = (webhook_url: string) => checked.inbox({ channel: { webhook_url } })
    const right = () => call(addressOf('shop'))
    await call('')
    await checked.fails('webhook_address', /has no webhook address/, /POST \/api\/instances\/shop\/inbox$/)
    await call('not a url')
    await checked.fails('webhook_address', /is no URL/, /POST \/api\/instances\/shop\/inbox$/)
    await call('https://elsewhere.example/hook?token=t0p')
    await checked.fails('webhook_address', /elsewhere \(https:\/\/elsewhere\.example\)/, /"force": true/)
    await call(addressOf('nobody'))
    await checked.fails('webhook_address', /unknown instance/, /inbox/)
    await call('https://old.example/api/instances/shop/webhook')
    await checked.fails('webhook_address', /SERVICE_PUBLIC_URL/, /repairs it/)
    await right()
    await checked.passes()

    await checked.world.create({ name: 'twin', owner_tag: 'acme' })
    await checked.world.create({ name: 'other', inbox_id: 5 })
    await call(addressOf('twin'))
    await checked.passes()
    await call(addressOf('other'))
    await checked.fails('webhook_address', /does not use this inbox/, /"force": true/)
    await right()

    const { body } = await checked.desk.post('/inboxes/1/reset_secret')
    const secret = String(body['secret'])
    await checked.fails('webhook_secret', /does not know the secret/, /webhook_hmac_secret of the tenant/)
    assert.doesNotMatch(JSON.stringify(await checkSetup(service, 'shop')), new RegExp(secret))
    await checked.tenant({ webhook_hmac_secret: secret })
    await checked.passes()

    await checked.inbox({ lock_to_single_conversation: true })
    await checked.fails(
      'conversation_mode',
      /the conversation mode of the instance is new/,
      /conversation_mode of the instance.* to reopen/,
    )
    await checked.world.patch('shop', { conversation_mode: 'reopen' })
    await checked.passes()
    await checked.world.patch('shop', { conversation_mode: null })
    await checked.world.restartService({ SERVICE_CONVERSATION_MODE: 'reopen' })
    await checked.passes()
  })

  test('a Chatwoot that does not sign has no secret, and a secret in the settings is advice', async () => {
    await using checked = await CheckedWorld.open({ helpdesk: { version: '4.3' } })
    await checked.passes()
    await checked.tenant({ webhook_hmac_secret: 'from another Chatwoot' })
    await checked.fails('webhook_secret', /refuses unsigned ones/, /webhook_hmac_secret of the tenant/)
    assert.equal((await checkSetup(checked.world.service, 'shop')).ok, false, 'no phone is linked')
  })

  test('the check writes nothing at Chatwoot and nothing here', async () => {
    await using checked = await CheckedWorld.open()
    const { helpdesk, service } = checked.world
    const audit = async () => (await service.get('/api/audit')).text
    const [before, asked] = [await audit(), helpdesk.requests.length]
    await checkSetup(service, 'shop')
    const methods = new Set(helpdesk.requests.slice(asked).map(({ method }) => method))
    assert.deepEqual(methods, new Set(['GET']))
    assert.deepEqual([helpdesk.see.conversations(), helpdesk.see.contacts()], [[], []])
    assert.equal(await audit(), before)
    helpdesk.assertNothingRefused()
  })
})

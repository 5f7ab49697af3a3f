// WhatsApp asks some accounts for a passkey when they are linked. The service cannot give one and says so.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { owner } from '../../harness/instance-api.ts'
import { LifecycleWorld } from '../../harness/lifecycle-world.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { World } from '../../harness/world.ts'

type Waited = { state: string; last_error: string | null; last_error_code: string | null }

test('a pairing that needs a passkey ends, and detail, wait-ready and the event say why', async () => {
  await using world = await World.unlinked()
  const phone = world.network.account({ phone: owner })
  phone.asksPasskey = true
  await world.create({ name: 'a' })
  await assert.rejects(phone.scan(await world.qrText('a')), /hung up/)
  const { last_error: reason, last_error_code: code, qr } = await world.reaches('a', 'disconnected')
  assert.equal(code, 'passkey_required')
  assert.match(reason ?? '', /passkey.*web\.whatsapp\.com.*some days/)
  assert.equal(qr.available, false)
  await world.tells('a', 'disconnected', 1)
  const { status, body } = await world.service.get('/api/instances/a/wait-ready?timeout=1')
  assert.equal(status, 408)
  const waited = body as Waited
  assert.deepEqual([waited.state, waited.last_error_code], ['disconnected', 'passkey_required'])
  assert.equal(waited.last_error, reason)
  // WhatsApp stops asking: the same instance is linked as usual.
  phone.asksPasskey = false
  await world.pair('a')
  assert.equal((await world.detail('a')).last_error_code, null)
  await world.tells('a', 'disconnected', 1)
})

test('agents are told that the account cannot be linked, and the code is taken away', async () => {
  const environment = { SERVICE_HELPDESK_NOTICES: 'true', SERVICE_LOCALE: 'pt' }
  await using world = await LifecycleWorld.open({ environment, qrLifetimeMs: 60_000 })
  const { helpdesk } = world
  const phone = world.network.account({ phone: owner })
  phone.asksPasskey = true
  await world.create({ name: 'a' })
  const hasCode = () => helpdesk.messages().some(({ files }) => files.length > 0)
  await waitUntil('a code is shown', hasCode)
  await assert.rejects(phone.scan(await world.qrText('a')), /hung up/)
  await helpdesk.waitForMessage(undefined, ({ content }) => /chave de acesso.*alguns dias/.test(content ?? ''), 60_000)
  await waitUntil('no code is left', () => !hasCode())
  await world.pass(120_000)
  assert.equal((await world.events('a'))['unreachable'], undefined, 'an account without a session is not unreachable')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bootWarnings } from './boot-warnings.ts'
import { loadConfig } from '../config/config.ts'

const safe = { SERVICE_API_TOKEN: 't', SERVICE_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') }
const routing = {
  storedSecretsOf: ({ ownerTag }: { ownerTag: string }) => Promise.resolve(ownerTag === 'guarded' ? ['secret'] : []),
}
const instances = [
  { name: 'a', ownerTag: '', inboxId: 0 },
  { name: 'b', ownerTag: 'guarded', inboxId: 0 },
  { name: 'c', ownerTag: 'open', inboxId: 0 },
]

test('a service with token, key and webhook secret gives no warning', async () => {
  assert.deepEqual(await bootWarnings(loadConfig({ ...safe, WEBHOOK_HMAC_SECRET: 's' }), instances, routing), [])
})

test('instances whose webhook has no secret are named', async () => {
  const [warning, ...others] = await bootWarnings(loadConfig(safe), instances, routing)
  assert.match(warning ?? '', /webhook of a, c: POST .*\/inbox .* set WEBHOOK_HMAC_SECRET/)
  assert.deepEqual(others, [])
})

test('an open API, a missing key and another network give a warning', async () => {
  for (const [environment, sentence] of [
    [{ ...safe, SERVICE_API_TOKEN: '' }, /API is open .* SERVICE_API_TOKEN/],
    [{ ...safe, SERVICE_ENCRYPTION_KEY: '' }, /stored in plain: set SERVICE_ENCRYPTION_KEY/],
    [{ ...safe, SERVICE_NETWORK_URL: 'ws://sim' }, /SERVICE_NETWORK_URL is set: .* not to WhatsApp/],
  ] as const) {
    const warnings = await bootWarnings(loadConfig(environment), [], routing)
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', sentence)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleTenant } from '../../test/harness/samples.ts'
import { bootWarnings } from './boot-warnings.ts'
import { loadConfig } from '../config/config.ts'

const safe = { SERVICE_API_TOKEN: 't', SERVICE_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') }
const tenants = {
  find: (ownerTag: string) =>
    Promise.resolve(
      ownerTag === 'unknown'
        ? undefined
        : {
            ...sampleTenant,
            ownerTag,
            createdAt: 1,
            updatedAt: 1,
            webhookSecret: ownerTag === 'guarded' ? 'secret' : null,
          },
    ),
}
const instances = [
  { name: 'a', ownerTag: '' },
  { name: 'b', ownerTag: 'guarded' },
  { name: 'c', ownerTag: 'open' },
  { name: 'd', ownerTag: 'unknown' },
]

test('a service with token, key and webhook secret gives no warning', async () => {
  assert.deepEqual(await bootWarnings(loadConfig({ ...safe, WEBHOOK_HMAC_SECRET: 's' }), instances, tenants), [])
})

test('instances whose webhook has no secret are named', async () => {
  const [warning, ...others] = await bootWarnings(loadConfig(safe), instances, tenants)
  assert.match(warning ?? '', /webhook of a, c, d: set WEBHOOK_HMAC_SECRET/)
  assert.deepEqual(others, [])
})

test('an open API, a missing key and another network give a warning', async () => {
  for (const [environment, sentence] of [
    [{ ...safe, SERVICE_API_TOKEN: '' }, /API is open .* SERVICE_API_TOKEN/],
    [{ ...safe, SERVICE_ENCRYPTION_KEY: '' }, /stored in plain: set SERVICE_ENCRYPTION_KEY/],
    [{ ...safe, SERVICE_NETWORK_URL: 'ws://sim' }, /SERVICE_NETWORK_URL is set: .* not to WhatsApp/],
  ] as const) {
    const warnings = await bootWarnings(loadConfig(environment), [], tenants)
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', sentence)
  }
})

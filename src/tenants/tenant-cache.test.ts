import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { sampleTenant } from '../../test/harness/samples.ts'
import { TenantCache } from './tenant-cache.ts'
import type { TenantWithSecrets } from './tenant-cache.ts'

const tenant = (apiToken: string): TenantWithSecrets => ({
  ...sampleTenant,
  ownerTag: 'acme',
  createdAt: 1,
  updatedAt: 1,
  apiToken,
})

/** Every load waits until the test answers it. */
function setUp() {
  const clock = new ManualClock()
  const loads: PromiseWithResolvers<TenantWithSecrets | undefined>[] = []
  const findWithSecrets = () => {
    const load = Promise.withResolvers<TenantWithSecrets | undefined>()
    loads.push(load)
    return load.promise
  }
  return { clock, loads, cache: new TenantCache({ tenants: { findWithSecrets }, clock }) }
}

test('a tenant is loaded once for all callers within 30 s, and again after', async () => {
  const { clock, loads, cache } = setUp()
  const asked = [cache.find('acme'), cache.find('acme')]
  loads[0]?.resolve(tenant('one'))
  assert.deepEqual(
    (await Promise.all(asked)).map((each) => each?.apiToken),
    ['one', 'one'],
  )
  await clock.advance(29_999)
  assert.equal((await cache.find('acme'))?.apiToken, 'one')
  assert.equal(loads.length, 1)
  await clock.advance(1)
  const again = cache.find('acme')
  loads[1]?.resolve(tenant('two'))
  assert.equal((await again)?.apiToken, 'two')
})

test('an unknown tenant is remembered, too', async () => {
  const { loads, cache } = setUp()
  const asked = cache.find('nobody')
  loads[0]?.resolve(undefined)
  assert.equal(await asked, undefined)
  assert.equal(await cache.find('nobody'), undefined)
  assert.equal(loads.length, 1)
})

test('a change is seen at once', async () => {
  const { loads, cache } = setUp()
  const first = cache.find('acme')
  loads[0]?.resolve(tenant('one'))
  await first
  cache.evict('acme')
  const second = cache.find('acme')
  loads[1]?.resolve(tenant('two'))
  assert.equal((await second)?.apiToken, 'two')
})

test('a load that began before a change is not used after it', async () => {
  const { loads, cache } = setUp()
  const early = cache.find('acme')
  cache.evict('acme')
  const late = cache.find('acme')
  loads[1]?.resolve(tenant('two'))
  assert.equal((await late)?.apiToken, 'two')
  loads[0]?.resolve(tenant('one'))
  await early
  assert.equal((await cache.find('acme'))?.apiToken, 'two')
})

test('a failed load is not remembered, nor does it drop a newer one', async () => {
  const { loads, cache } = setUp()
  const early = cache.find('acme')
  cache.evict('acme')
  const late = cache.find('acme')
  loads[1]?.resolve(tenant('two'))
  await late
  loads[0]?.reject(new Error('away'))
  await assert.rejects(early, /away/)
  assert.equal((await cache.find('acme'))?.apiToken, 'two')

  cache.evict('acme')
  const failing = cache.find('acme')
  loads[2]?.reject(new Error('away'))
  await assert.rejects(failing, /away/)
  const again = cache.find('acme')
  loads[3]?.resolve(tenant('three'))
  assert.equal((await again)?.apiToken, 'three')
})

test('the oldest of more than 10,000 tenants are dropped', async () => {
  const { loads, cache } = setUp()
  for (let i = 0; i <= 10_000; i++) {
    void cache.find(`tag-${i}`)
    loads[i]?.resolve(undefined)
  }
  await cache.find('tag-1')
  assert.equal(loads.length, 10_001)
  const gone = cache.find('tag-0')
  assert.equal(loads.length, 10_002)
  loads[10_001]?.resolve(undefined)
  await gone
})

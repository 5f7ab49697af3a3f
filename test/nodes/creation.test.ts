// Instances are created at any node, and only once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestFrom } from '../harness/http-request.ts'
import type { Answer } from '../harness/http-request.ts'
import { migratedLocation, withoutPostgres } from '../harness/databases.ts'
import { apiToken, Service } from '../harness/service.ts'
import { nodeSettings } from '../harness/stranger.ts'

/** Two nodes on one database, which know each other. */
async function startBoth() {
  await using stack = new AsyncDisposableStack()
  const place = stack.use(await migratedLocation('postgres'))
  const start = async () => stack.use(await Service.start({ place, environment: await nodeSettings() }))
  const [first, second] = [await start(), await start()]
  const owned = stack.move()
  return { first, second, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const create = ({ app }: Service, body: object): Promise<Answer> => post(app.url, '/api/instances', body)

async function post(url: string, path: string, body: object): Promise<Answer> {
  return requestFrom(url, 'POST', path, { token: apiToken, body })
}

test('the owner answers for a name that exists, and gets the settings', { skip: withoutPostgres }, async () => {
  await using nodes = await startBoth()
  assert.equal((await create(nodes.first, { name: 'shop' })).status, 201)
  const again = await create(nodes.second, { name: 'shop', inbox_id: 7 })
  assert.deepEqual([again.status, (again.body as { name: string }).name], [200, 'shop'])
  assert.equal(nodes.first.app.instances.get('shop').record.inboxId, 7)
  assert.equal(nodes.second.holds('shop'), false)
})

test('a new name is created at the node that is asked', { skip: withoutPostgres }, async () => {
  await using nodes = await startBoth()
  assert.equal((await create(nodes.second, { name: 'shop' })).status, 201)
  assert.deepEqual([nodes.first.holds('shop'), nodes.second.holds('shop')], [false, true])
})

test('of two nodes that create one name at once, one creates it', { skip: withoutPostgres }, async () => {
  await using nodes = await startBoth()
  for (const name of Array.from({ length: 8 }, (_, index) => `shop-${index}`)) {
    const answers = await Promise.all([create(nodes.first, { name }), create(nodes.second, { name })])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 201], answers.map(({ text }) => text).join())
    assert.notEqual(nodes.first.holds(name), nodes.second.holds(name))
  }
})

test('a list of names is created here and at the owners', { skip: withoutPostgres }, async () => {
  await using nodes = await startBoth()
  await create(nodes.first, { name: 'shop' })
  const names = ['shop', 'not a name', 'new']
  const { status, body } = await post(nodes.second.app.url, '/api/instances/bulk', { names })
  assert.equal(status, 200)
  const states = (body as { name: string; state: string }[]).map(({ name, state }) => `${name} ${state}`)
  assert.deepEqual(states, ['shop qr_pending', 'not a name error', 'new qr_pending'])
  assert.deepEqual([nodes.second.holds('shop'), nodes.second.holds('new')], [false, true])
})

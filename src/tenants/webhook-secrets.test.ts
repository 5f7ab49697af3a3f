import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/harness/manual-clock.ts'
import { WebhookSecrets } from './webhook-secrets.ts'

function setUp() {
  const clock = new ManualClock()
  const rows = new Map<string, string>()
  const bed = { reads: 0, isBroken: false }
  const store = {
    find: (key: string) => {
      bed.reads++
      return Promise.resolve(rows.get(key))
    },
    findElsewhere: (place: string) => {
      bed.reads++
      return Promise.resolve([...rows].filter(([key]) => key !== place).map(([, secret]) => secret))
    },
    put: (key: string, secret: string) => {
      rows.set(key, secret)
      // The answer of the commit is lost.
      return bed.isBroken ? Promise.reject(new Error('away')) : Promise.resolve()
    },
    remove: (key: string) => {
      rows.delete(key)
      return Promise.resolve()
    },
  }
  return { clock, bed, secrets: new WebhookSecrets({ store, clock }) }
}

test('a thousand callbacks of a destination cost one read, also when it has no secret', async () => {
  const { bed, secrets } = setUp()
  for (let i = 0; i < 1000; i++) assert.equal(await secrets.find('here'), undefined)
  assert.equal(bed.reads, 1)
})

test('a secret counts at once, and so does its removal', async () => {
  const { secrets } = setUp()
  assert.equal(await secrets.find('here'), undefined)
  await secrets.keep('here', 'one')
  assert.equal(await secrets.find('here'), 'one')
  assert.equal(await secrets.find('there'), undefined)
  await secrets.keep('here', 'two')
  assert.equal(await secrets.find('here'), 'two')
  await secrets.keep('here', null)
  assert.equal(await secrets.find('here'), undefined)
})

test('a secret that was stored counts also when the answer of the database was lost', async () => {
  const { bed, secrets } = setUp()
  await secrets.find('here')
  bed.isBroken = true
  await assert.rejects(secrets.keep('here', 'one'), /away/)
  assert.equal(await secrets.find('here'), 'one')
})

test('secrets at other addresses are read once in 30 s', async () => {
  const { clock, bed, secrets } = setUp()
  await secrets.keep('there', 'one')
  for (let i = 0; i < 1000; i++) assert.deepEqual(await secrets.findElsewhere('here'), ['one'])
  assert.equal(bed.reads, 1)
  await secrets.keep('there', 'two')
  await clock.advance(30_000)
  assert.deepEqual(await secrets.findElsewhere('here'), ['two'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SingleFlight } from './single-flight.ts'

test('callers of one key share the work, also when it fails; afterwards it is done anew', async () => {
  const flights = new SingleFlight()
  let done = 0
  const fail = () => {
    done++
    return Promise.reject(new Error('no'))
  }
  const shared = [flights.run('a', fail), flights.run('a', fail)]
  for (const each of shared) await assert.rejects(each, /no/)
  assert.equal(done, 1)
  assert.equal(await flights.run('a', () => Promise.resolve('yes')), 'yes')
})

test('different keys do not wait for each other', async () => {
  const flights = new SingleFlight()
  void flights.run('a', () => new Promise(() => undefined))
  assert.equal(await flights.run('b', () => Promise.resolve(1)), 1)
})

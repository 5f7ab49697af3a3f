import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/harness/manual-clock.ts'
import { mostTries, SignInTries } from './sign-in-tries.ts'

function setUp() {
  const clock = new ManualClock()
  const tries = new SignInTries(clock)
  const exhaust = (address: string) => {
    for (let n = 0; n < mostTries; n++) tries.fail(address)
  }
  return { clock, tries, exhaust }
}

test('five wrong tokens within a minute make the address wait until the first of them is a minute old', async () => {
  const { clock, tries } = setUp()
  for (let n = 0; n < 5; n++) {
    assert.equal(tries.waitOf('192.0.2.1'), 0)
    tries.fail('192.0.2.1')
    await clock.advance(10_000)
  }
  assert.equal(tries.waitOf('192.0.2.1'), 10)
  assert.equal(tries.waitOf('192.0.2.2'), 0)
  await clock.advance(9999)
  assert.equal(tries.waitOf('192.0.2.1'), 1)
  await clock.advance(1)
  assert.equal(tries.waitOf('192.0.2.1'), 0)
  tries.fail('192.0.2.1')
  assert.equal(tries.waitOf('192.0.2.1'), 10)
})

test('the addresses of one IPv6 network share their tries, IPv4 addresses do not', () => {
  const { tries, exhaust } = setUp()
  exhaust('2001:db8:1:2::1')
  assert.notEqual(tries.waitOf('2001:db8:1:2:ffff::9'), 0)
  assert.notEqual(tries.waitOf('2001:0DB8:0001:0002::1%eth0'), 0)
  assert.equal(tries.waitOf('2001:db8:1:3::1'), 0)
  exhaust('::ffff:192.0.2.1')
  assert.notEqual(tries.waitOf('192.0.2.1'), 0)
  assert.equal(tries.waitOf('::ffff:192.0.2.2'), 0)
})

test('an address that a proxy wrote in another form counts as it is', () => {
  const { tries, exhaust } = setUp()
  exhaust('unknown')
  assert.notEqual(tries.waitOf('unknown'), 0)
  assert.equal(tries.waitOf('_hidden'), 0)
})

test('the memory for addresses has a bound: the oldest goes first', () => {
  const { tries, exhaust } = setUp()
  exhaust('192.0.2.1')
  for (let n = 0; n < 10_000; n++) tries.fail(`10.0.${n >> 8}.${n & 255}`)
  assert.equal(tries.waitOf('192.0.2.1'), 0)
})

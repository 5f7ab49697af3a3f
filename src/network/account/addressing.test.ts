import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lidDomain, phoneDomain } from '../../core/address.ts'
import { Addressing } from './addressing.ts'

function setUp() {
  const stored = new Map<string, unknown>()
  let isAway = false
  const keys = {
    get: (kind: string) =>
      isAway ? Promise.reject(new Error('storage is away')) : Promise.resolve({ own: stored.get(kind) }),
    set: (changes: Record<string, Record<string, unknown> | undefined>) => {
      for (const [kind, values] of Object.entries(changes)) stored.set(kind, values?.['own'])
      return Promise.resolve(undefined)
    },
  }
  const open = () => new Addressing(keys)
  return { stored, addressing: open(), open, goAway: (away: boolean) => (isAway = away) }
}

test('nothing is known at first; the word of the phone decides, and it is kept', async () => {
  const { addressing, open } = setUp()
  assert.equal(await addressing.domain(), undefined)
  await addressing.told(false)
  assert.equal(await open().domain(), phoneDomain)
  await addressing.told(true)
  assert.equal(await open().domain(), lidDomain)
})

test('a message by LID shows that the account has moved, also after the phone said that it had not', async () => {
  for (const tell of [undefined, false]) {
    const { addressing, open } = setUp()
    if (tell !== undefined) await addressing.told(tell)
    await addressing.usedLid()
    assert.equal(await open().domain(), lidDomain)
  }
})

test('a LID that the network refused outweighs messages by LID, until the phone says that the account moves', async () => {
  const { addressing, open } = setUp()
  await addressing.usedLid()
  await addressing.learn(phoneDomain)
  await addressing.usedLid()
  assert.equal(await open().domain(), phoneDomain)
  await addressing.told(true)
  assert.equal(await open().domain(), lidDomain)
})

test('a LID that the network took after it refused the phone number shows that the account has moved', async () => {
  const { addressing } = setUp()
  await addressing.learn(phoneDomain)
  await addressing.learn(lidDomain)
  assert.equal(await addressing.domain(), lidDomain)
})

test('what cannot be read is read again', async () => {
  const { stored, addressing, goAway } = setUp()
  stored.set('addressing', 'lid')
  goAway(true)
  await assert.rejects(addressing.domain(), /away/)
  goAway(false)
  assert.equal(await addressing.domain(), lidDomain)
})

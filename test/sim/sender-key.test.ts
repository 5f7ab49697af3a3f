// Members of a group share the work of opening a message, and each of them still needs its own right key.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../sim/network/seeded-random.ts'
import { Memo } from '../../sim/network/signal/memo.ts'
import { KnownSenderKeys, OwnSenderKey } from '../../sim/network/signal/sender-key.ts'

function memberWith(distribution: Buffer): KnownSenderKeys {
  const member = new KnownSenderKeys()
  member.learn(distribution)
  return member
}

test('a message that one member has opened stays closed for a member without the right key', () => {
  const author = new OwnSenderKey(new SeededRandom('author'))
  const start = author.distribution()
  const body = author.encrypt(Buffer.from('hello'))
  assert.equal(memberWith(start).decrypt(body).toString(), 'hello')

  assert.throws(() => new KnownSenderKeys().decrypt(body), /no sender key/)
  const late = memberWith(author.distribution())
  assert.throws(() => late.decrypt(body), /already opened/)
  const wrongChain = Buffer.from(start)
  wrongChain[20] = (wrongChain[20] ?? 0) ^ 1
  assert.throws(() => {
    assert.equal(memberWith(wrongChain).decrypt(body).toString(), 'hello')
  })
  const wrongAuthor = Buffer.from(start)
  wrongAuthor[start.length - 1] = (start.at(-1) ?? 0) ^ 1
  assert.throws(() => memberWith(wrongAuthor).decrypt(body), /signature/)
})

test('the members of a group open one message once, whichever of them opens it first', () => {
  const author = new OwnSenderKey(new SeededRandom('author'))
  const start = author.distribution()
  const body = author.encrypt(Buffer.from('hello'))
  assert.equal(memberWith(start).decrypt(body), memberWith(start).decrypt(body), 'one object')
})

test('a message that was changed on its way is refused although others opened it unchanged', () => {
  const author = new OwnSenderKey(new SeededRandom('author'))
  const start = author.distribution()
  const body = author.encrypt(Buffer.from('hello'))
  assert.equal(memberWith(start).decrypt(body).toString(), 'hello')

  const changed = Buffer.from(body)
  changed[body.length - 70] = (body.at(-70) ?? 0) ^ 1
  const member = memberWith(start)
  assert.throws(() => member.decrypt(changed), /signature/)
  assert.equal(member.decrypt(body).toString(), 'hello')
  assert.throws(() => member.decrypt(body), /already opened/)
})

test('equal inputs are computed once, and different lists of inputs are never equal', () => {
  const computed: string[] = []
  const memo = new Memo<{ name: string }>()
  const get = (name: string, ...inputs: (string | Uint8Array)[]) =>
    memo.get(inputs, () => {
      computed.push(name)
      return { name }
    }).name

  assert.equal(get('first', 'ab', 'c'), 'first')
  assert.equal(get('same', 'ab', 'c'), 'first')
  assert.equal(get('same bytes', Buffer.from('ab'), 'c'), 'first')
  assert.equal(get('second', 'a', 'bc'), 'second')
  assert.equal(get('third', 'a 2 bc'), 'third')
  assert.deepEqual(computed, ['first', 'second', 'third'])
})

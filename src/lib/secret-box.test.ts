import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keyPrefixLength, SecretBox } from './secret-box.ts'

const key = (fill: number) => Buffer.alloc(32, fill)
const bytes = fc.uint8Array({ maxLength: 300 })

test('whatever is sealed opens again at its place, with and without a key', () => {
  fc.assert(
    fc.property(bytes, fc.string(), fc.boolean(), (value, place, withKey) => {
      const box = new SecretBox(withKey ? [key(1)] : [])
      assert.deepEqual(Buffer.from(box.open(box.seal(value, place), place)), Buffer.from(value))
    }),
  )
})

test('a sealed value opens nowhere else and not after any change', () => {
  const box = new SecretBox([key(1)])
  fc.assert(
    fc.property(bytes, fc.nat(), fc.integer({ min: 1, max: 255 }), (value, at, flip) => {
      const sealed = box.seal(value, 'here')
      assert.throws(() => box.open(sealed, 'there'), /damaged/)
      const changed = Buffer.from(sealed)
      const index = 1 + (at % (changed.length - 1))
      changed[index] = (changed[index] ?? 0) ^ flip
      assert.throws(() => box.open(changed, 'here'))
    }),
  )
})

test('the first key seals and all keys open', () => {
  const old = new SecretBox([key(1)]).seal(Buffer.from('x'), 'p')
  const rotated = new SecretBox([key(2), key(1)])
  assert.equal(Buffer.from(rotated.open(old, 'p')).toString(), 'x')
  const fresh = rotated.seal(Buffer.from('y'), 'p')
  assert.throws(() => new SecretBox([key(1)]).open(fresh, 'p'), /no configured key/)
  assert.equal(Buffer.from(new SecretBox([key(2)]).open(fresh, 'p')).toString(), 'y')
})

test('a plain value stays readable when a key is added', () => {
  const plain = new SecretBox([]).seal(Buffer.from('x'), 'p')
  assert.equal(Buffer.from(new SecretBox([key(1)]).open(plain, 'p')).toString(), 'x')
})

test('the prefix tells whether a key is there', () => {
  const sealed = new SecretBox([key(1)]).seal(Buffer.from('x'), 'p').subarray(0, keyPrefixLength)
  const plain = new SecretBox([]).seal(Buffer.from('x'), 'p').subarray(0, keyPrefixLength)
  assert.equal(new SecretBox([key(1)]).hasKeyFor(sealed), true)
  assert.equal(new SecretBox([key(2)]).hasKeyFor(sealed), false)
  assert.equal(new SecretBox([]).hasKeyFor(plain), true)
})

test('two seals of one value differ', () => {
  const box = new SecretBox([key(1)])
  assert.notDeepEqual(box.seal(Buffer.from('x'), 'p'), box.seal(Buffer.from('x'), 'p'))
})

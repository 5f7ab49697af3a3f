import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keyPrefixLength, SecretBox } from './secret-box.ts'

const key = (fill: number) => Buffer.alloc(32, fill)
const bytes = fc.uint8Array({ maxLength: 300 })

test('a sealed value opens again at its place, with and without a key', () => {
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

test('prefix and length tell whether a value could be opened', () => {
  const sealed = new SecretBox([key(1)]).seal(Buffer.from('x'), 'p')
  const plain = new SecretBox([]).seal(Buffer.from('x'), 'p')
  const inspect = (box: SecretBox, value: Uint8Array) => box.inspect(value.subarray(0, keyPrefixLength), value.length)
  assert.equal(inspect(new SecretBox([key(1)]), sealed), 'opens')
  assert.equal(inspect(new SecretBox([key(2)]), sealed), 'needs another key')
  assert.equal(inspect(new SecretBox([]), plain), 'opens')
  for (const damaged of [sealed.subarray(0, 32), Buffer.of(), Buffer.of(2), Buffer.of(1)]) {
    assert.equal(inspect(new SecretBox([key(1)]), damaged), 'damaged')
  }
})

test('two seals of one value differ', () => {
  const box = new SecretBox([key(1)])
  assert.notDeepEqual(box.seal(Buffer.from('x'), 'p'), box.seal(Buffer.from('x'), 'p'))
})

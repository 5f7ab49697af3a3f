import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { idPieces } from './id-pieces.ts'

test('the pieces have all ids and no other, and few lengths', () => {
  const lengths = new Set<number>()
  fc.assert(
    fc.property(fc.nat(1200), (count) => {
      const ids = Array.from({ length: count }, (_, n) => `id ${n}`)
      const pieces = idPieces(ids)
      assert.deepEqual([...new Set(pieces.flat())], ids)
      for (const { length } of pieces) lengths.add(length)
    }),
  )
  assert.ok(lengths.size <= 6, [...lengths].join())
})

test('no ids make no piece, and one id makes a piece of its own', () => {
  assert.deepEqual(idPieces([]), [])
  assert.deepEqual(idPieces(['a']), [['a']])
  assert.deepEqual(idPieces(['a', 'b']), [['a', 'b', 'b', 'b']])
})

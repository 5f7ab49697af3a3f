import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Fingerprints } from './fingerprints.ts'
import { normaliseForSpamguard, spamguardMinChars } from './spamguard.ts'

const key = Buffer.alloc(32, 1)
const newKey = Buffer.alloc(32, 2)
const message = (content: string, fileName?: string) => ({
  content,
  attachments: fileName === undefined ? [] : [{ fileName, size: 10 }],
})

for (const keys of [[], [key]]) {
  describe(`fingerprints with ${keys.length} keys`, () => {
    const prints = new Fingerprints(keys)
    const of = (content: string, fileName?: string) => prints.of(message(content, fileName))

    test('case, spaces and marks make no other message', () => {
      const same = ['Hello   World, dear', ' *hello* world, dear ', '~hello~\nworld, `dear`', '_HELLO_ world,\tdear']
      assert.equal(new Set(same.map((text) => of(text))).size, 1)
      assert.notEqual(of('hello world, dear'), of('hello world, deer'))
      assert.ok(prints.matches(of('hello world, dear'), message('Hello world, dear')))
      assert.ok(!prints.matches(of('hello world, dear'), message('Hello world, deer')))
    })

    test('other files make another message', () => {
      assert.notEqual(of('the same caption', 'a.jpg'), of('the same caption', 'b.jpg'))
      assert.equal(of('the same caption', 'a.jpg'), of('the same caption', 'a.jpg'))
    })

    test('short messages have none', () => {
      assert.equal(of('*ok* ok ok'), null)
      fc.assert(
        fc.property(fc.string({ maxLength: 40 }), (text) => {
          const isShort = Array.from(normaliseForSpamguard(text)).length < spamguardMinChars
          assert.equal(of(text) === null, isShort)
        }),
      )
    })
  })
}

describe('a stored fingerprint', () => {
  const written = message('Transfer 500 to account 12345')
  const unkeyed = hash('sha256', JSON.stringify(['transfer 500 to account 12345', []]), 'base64url')

  test('does not tell the text to a reader without the key', () => {
    const stored = new Fingerprints([key]).of(written)
    assert.notEqual(stored, unkeyed)
    assert.notEqual(stored, new Fingerprints([newKey]).of(written))
    assert.ok(!new Fingerprints([newKey]).matches(stored, written))
  })

  test('is recognised after an upgrade, and after a change of the key', () => {
    assert.ok(new Fingerprints([key]).matches(unkeyed, written))
    assert.ok(new Fingerprints([newKey, key]).matches(new Fingerprints([key]).of(written), written))
    assert.ok(new Fingerprints([key]).matches(null, message('ok')))
    assert.ok(!new Fingerprints([key]).matches(null, written))
  })
})

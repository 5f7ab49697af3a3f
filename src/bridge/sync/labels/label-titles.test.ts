// How labels of WhatsApp are called at the helpdesk.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newTitle, titleForm } from './label-titles.ts'

/** What Chatwoot demands of a title. */
const accepted = /^[\p{L}\p{N}]+[\p{L}\p{N}_-]+$/u

function titlesOf(...names: string[]): string[] {
  const taken: string[] = []
  for (const [n, name] of names.entries()) taken.push(newTitle(name, String(n + 1), (title) => taken.includes(title)))
  return taken
}

test('a name becomes a title of lower-case letters, digits, "-" and "_"', () => {
  assert.deepEqual(titlesOf('Novo cliente', 'Pagamento pendente!', 'Año_Nuevo', 'ВАЖНО', '  Top 10 %  '), [
    ...['novo-cliente', 'pagamento-pendente', 'año_nuevo', 'важно', 'top-10'],
  ])
})

test('names with the same form get different titles', () => {
  assert.deepEqual(titlesOf('VIP', 'vip', 'V.I.P', 'VIP!'), ['vip', 'vip-2', 'v-i-p', 'vip-4'])
  assert.deepEqual(titlesOf('vip-2', 'VIP', 'vip'), ['vip-2', 'vip', 'vip-3'])
  assert.deepEqual(titlesOf('VIP', 'vip-3', 'vip', 'label-3-1'), ['vip', 'vip-3', 'label-3-1', 'label-3-1-4'])
})

test('a name without letters and digits, or of one character, gets a title too', () => {
  assert.deepEqual(titlesOf('🔥', '❤️', 'A', '', '---'), ['label-1', 'label-2', 'label-a', 'label-4', 'label-5'])
})

test('a long name is cut', () => {
  const [one = '', other = ''] = titlesOf('x'.repeat(200), 'X'.repeat(200))
  assert.equal(one, 'x'.repeat(100))
  assert.equal(other, `${'x'.repeat(98)}-2`)
  assert.equal(titleForm(`${'é'.repeat(99)} more`), 'é'.repeat(99))
})

test('every name has a title that Chatwoot accepts, that stays the same, and that no other label has', () => {
  const name = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('VIP', 'vip', 'İ'),
  )
  fc.assert(
    fc.property(fc.array(name, { maxLength: 20 }), (names) => {
      const titles = titlesOf(...names)
      for (const title of titles) {
        assert.match(title, accepted)
        assert.equal(titleForm(title), title.replace(/[-_]+$/, ''))
        assert.ok(Array.from(title).length <= 120)
      }
      assert.equal(new Set(titles).size, titles.length)
    }),
  )
})

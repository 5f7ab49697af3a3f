import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestName } from './best-name.ts'

const person = (savedName: string | null, pushName: string | null) => ({ savedName, pushName })

test('a saved name comes before a push name, also if another account saved it', () => {
  assert.equal(bestName(person('Mum', 'Maria'), [], 'Maria'), 'Mum')
  assert.equal(bestName(person(null, 'Maria'), [person('Mum', 'Maria')], 'Maria'), 'Mum')
  assert.equal(bestName(person(null, 'Mary'), [person(null, 'Maria')], 'Maria'), 'Mary')
})

test('two address books do not take the name from each other', () => {
  const [own, other] = [person('Mum', null), person('Mrs Silva', null)]
  assert.equal(bestName(own, [other], 'Mrs Silva'), 'Mrs Silva')
  assert.equal(bestName(own, [other], 'Mum'), 'Mum')
  assert.equal(bestName(own, [other], 'Maria'), 'Mum')
})

test('a name without visible characters is none', () => {
  assert.equal(bestName(person(' \n', '`'), [], '+55'), null)
  assert.equal(bestName(person('', ' Maria '), [], '+55'), 'Maria')
})

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { reasonTexts, translateReason, writeReason } from './reason.ts'
import type { ReasonKey } from './reason.ts'

const keys = Object.keys(reasonTexts) as ReasonKey[]
const namesIn = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).toSorted()
const filled = (text: string, value: string) => text.replace(/\{\w+\}/g, value)

test('every sentence has the same values in every language, and no two are the same', () => {
  for (const key of keys) {
    const { en, es, pt } = reasonTexts[key]
    assert.deepEqual([namesIn(es), namesIn(pt)], [namesIn(en), namesIn(en)], key)
  }
  assert.equal(new Set(keys.map((key) => reasonTexts[key].en)).size, keys.length)
})

test('every sentence is found again by its English words, with any values', () => {
  fc.assert(
    fc.property(fc.constantFrom(...keys), fc.stringMatching(/^[a-z0-9]{1,12}$/), (key, value) => {
      for (const locale of ['es', 'pt'] as const) {
        const translated = translateReason(filled(reasonTexts[key].en, value), locale)
        assert.equal(translated, filled(reasonTexts[key][locale], value), key)
      }
    }),
    { numRuns: 1000 },
  )
})

test('a reason inside a reason is translated too, also those of single parts', () => {
  const missing = writeReason('fileMissing', { origin: 'https://desk.example' })
  const unfetched = writeReason('unfetched', { name: 'a.pdf', reason: missing })
  assert.equal(
    translateReason(unfetched, 'es'),
    'no se pudo descargar a.pdf del sistema de atención: el archivo no existe en https://desk.example',
  )
  const parts = [
    writeReason('part', { numbers: 1, count: 4, reason: unfetched }),
    writeReason('parts', { numbers: '2, 4', count: 4, reason: writeReason('uploadTooLarge') }),
  ]
  assert.equal(
    translateReason(parts.join('; '), 'pt'),
    'parte 1 de 4: não foi possível baixar a.pdf do sistema de atendimento: o arquivo não existe em https://desk.example; partes 2, 4 de 4: o arquivo é grande demais',
  )
})

test('English stays as it is, and so does a sentence that is in no table', () => {
  assert.equal(translateReason(writeReason('tooOld'), 'en'), reasonTexts.tooOld.en)
  for (const text of ['', 'ECONNRESET', 'part of it', 'part 1 of 2: {reason}', '{reason}']) {
    assert.doesNotThrow(() => translateReason(text, 'es'))
  }
  assert.equal(translateReason('the disk is full', 'es'), 'the disk is full')
  assert.equal(translateReason('part 1 of 2: the disk is full', 'es'), 'parte 1 de 2: the disk is full')
})

test('the errors whose words agents read are written with the tables', () => {
  const root = join(import.meta.dirname, '../..')
  const files = globSync('**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const plain = /new (?:SendRefusal\(|SendError\(\s*'\w+',)\s*['"`]/
  assert.deepEqual(
    files.filter((file) => plain.test(readFileSync(join(root, file), 'utf8'))),
    [],
  )
})

// The texts of the pages in all languages: the same keys, the same places for values, and a translation of each.

import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'

type Texts = Record<string, Record<string, string>>

const languages = ['en', 'pt-BR', 'es']

/** Texts that are the same in all languages: names, and units. */
const sameEverywhere = new Set([
  ...['Causeway', 'Node.js', 'SQLite', 'PostgreSQL', 'Chatwoot', 'WhatsApp'],
  ...['{ms} ms', '{s} s'],
])

const files = globSync(['static/**/texts.js', 'demo/**/texts.js'])

function placesOf(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([place]) => place).sort()
}

/** What is wrong with the texts of one file. */
function mistakesIn(texts: Texts): string[] {
  const mistakes: string[] = []
  const keys = Object.keys(texts['en'] ?? {})
  for (const language of languages) {
    const own = Object.keys(texts[language] ?? {})
    for (const key of keys.filter((each) => !own.includes(each))) mistakes.push(`${language} lacks ${key}`)
    for (const key of own.filter((each) => !keys.includes(each))) mistakes.push(`${language} has ${key}, en has not`)
  }
  for (const key of keys) {
    const all = languages.map((language) => texts[language]?.[key] ?? '')
    const places = all.map((text) => placesOf(text).join(' '))
    if (new Set(places).size > 1) mistakes.push(`${key} has different places: ${places.join(' | ')}`)
    if (all.some((text) => text.trim() === '')) mistakes.push(`${key} is empty`)
    const [english = ''] = all
    if (new Set(all).size === 1 && !sameEverywhere.has(english)) mistakes.push(`${key} is not translated: ${english}`)
  }
  return mistakes
}

describe('the texts of the pages', () => {
  test('are found', () => {
    assert.ok(files.length >= 10, `${files.length} files`)
  })

  for (const file of files) {
    test(`${file.replaceAll('\\', '/')} says the same in all languages`, async () => {
      const { texts } = (await import(pathToFileURL(resolve(file)).href)) as { texts: Texts }
      assert.deepEqual(Object.keys(texts), languages)
      assert.deepEqual(mistakesIn(texts), [])
    })
  }

  test('with a mistake are refused', () => {
    const good = { en: { a: 'One {b}' }, 'pt-BR': { a: 'Um {b}' }, es: { a: 'Uno {b}' } }
    assert.deepEqual(mistakesIn(good), [])
    assert.equal(mistakesIn({ ...good, es: {} }).length, 3)
    assert.equal(mistakesIn({ ...good, es: { a: 'Uno {c}' } }).length, 1)
    assert.equal(mistakesIn({ ...good, es: { a: 'Uno {b}', z: 'Zeta' } }).length, 1)
    assert.equal(mistakesIn({ en: { a: 'One' }, 'pt-BR': { a: 'One' }, es: { a: 'One' } }).length, 1)
  })
})

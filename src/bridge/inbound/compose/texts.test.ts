import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { textsOf } from './texts.ts'
import type { Locale } from './texts.ts'

type Sayings = Map<string, string>
type Shown = string | number | boolean | null

// What a function of the texts may be given: two of everything, so that singular and plural both speak.
const given: Record<string, Shown[][]> = {
  album: [
    [1, 0],
    [0, 1],
    [2, 3],
  ],
  'change.locked': [
    ['WHO', true],
    ['WHO', false],
  ],
  'change.announce': [
    ['WHO', true],
    ['WHO', false],
  ],
  'change.approval': [
    ['WHO', true],
    ['WHO', false],
  ],
  'change.ephemeral': [
    ['WHO', null],
    ['WHO', '7 d'],
  ],
  'change.ephemeralFound': [[null], ['7 d']],
}
const standard: Shown[][] = [['FIRST', 'SECOND']]

/** Every sentence by its name, and by what it was given. */
function sayings(texts: object, path = ''): Sayings {
  const said: Sayings = new Map()
  for (const [key, value] of Object.entries(texts) as [string, unknown][]) {
    const name = path + key
    if (typeof value === 'string') said.set(name, value)
    else if (typeof value === 'function') {
      const say = value as (...parts: Shown[]) => string
      for (const parts of given[name] ?? standard) {
        const used = parts.slice(0, say.length)
        said.set(`${name}(${used.join(', ')})`, say(...used))
      }
    } else for (const [inner, sentence] of sayings(value as object, `${name}.`)) said.set(inner, sentence)
  }
  return said
}

// Words that are the same in these languages.
const international = new Set(['media.gif', 'media.sticker', 'media.video'])

describe('texts', () => {
  const english = sayings(textsOf.en)

  for (const locale of ['es', 'pt'] satisfies Locale[]) {
    const said = sayings(textsOf[locale])

    test(`${locale} says everything that English says`, () => {
      assert.deepEqual([...said.keys()], [...english.keys()])
      for (const [name, sentence] of said) assert.notEqual(sentence.trim(), '', name)
    })

    test(`${locale} says it in its own words`, () => {
      const same = [...said].filter(([name, sentence]) => english.get(name) === sentence && !international.has(name))
      assert.deepEqual(same, [])
    })

    test(`${locale} tells as much as English`, () => {
      for (const [name, sentence] of said) {
        const told = (text = '') => text.match(/WHO|FIRST|SECOND|7 d|\d/g)?.toSorted() ?? []
        assert.deepEqual(told(sentence), told(english.get(name)), name)
        const sign = (text = '') => /^\p{Extended_Pictographic}/u.exec(text)?.[0]
        assert.equal(sign(sentence), sign(english.get(name)), `${name} begins with the same sign`)
      }
    })
  }
})

// Writes the reasons that agents read, and translates them.
//
// A reason is made, stored, logged and answered in English; operators and programs read it there. It is translated where it
// leaves for agents: at the helpdesk. The English sentence is the key of its translations, so that rows which an earlier
// version stored are translated too, and an earlier version can still show the rows of this one.

import { connectionReasons } from './connection-reasons.ts'
import { messageReasons } from './message-reasons.ts'
import { networkReasons } from './network-reasons.ts'
import type { Locale } from './sentences.ts'
import { unreachableReasons } from './unreachable-reasons.ts'

export const reasonTexts = { ...messageReasons, ...networkReasons, ...connectionReasons, ...unreachableReasons }

export type ReasonKey = keyof typeof reasonTexts
type ValueNames<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ValueNames<Rest>
  : never
type Values<Key extends ReasonKey> = Record<ValueNames<(typeof reasonTexts)[Key]['en']>, string | number>
type Template = { key: ReasonKey; names: readonly string[]; literals: readonly string[] }

const valueName = /\{(\w+)\}/g
/** Between the reasons of a message whose parts failed for several reasons. */
const nextPart = /; (?=parts? \d+(?:, \d+)* of \d+: )/
const isPart = /^parts? \d+(?:, \d+)* of \d+: /
/** Values that are sentences themselves. */
const nested = ['reason', 'cure']
/** Deeper sentences stay in English. The service writes no deeper ones, and foreign text must not cost a pass a level. */
const maxNesting = 3

const templates = (Object.keys(reasonTexts) as ReasonKey[]).map((key): Template => {
  const { en } = reasonTexts[key]
  const names = [...en.matchAll(valueName)].map(([, name = '']) => name)
  return { key, names, literals: en.split(/\{\w+\}/) }
})
const fixed = new Map<string, ReasonKey>(templates.map(({ key }) => [reasonTexts[key].en, key]))
/** A sentence that begins with a value could begin with another sentence, so it comes last. More fixed words come first. */
const variable = templates.filter(({ names }) => names.length > 0).toSorted((one, other) => rank(other) - rank(one))

/** The English sentence. */
export function writeReason<Key extends ReasonKey>(
  key: Key,
  ...[values]: [keyof Values<Key>] extends [never] ? [] : [Values<Key>]
): string {
  return fill(reasonTexts[key].en, values ?? {})
}

/** The sentence in another language. A sentence that is not in the tables stays as it is. */
export function translateReason(english: string, locale: Locale): string {
  if (locale === 'en') return english
  if (!isPart.test(english)) return translateOne(english, locale)
  return english
    .split(nextPart)
    .map((part) => translateOne(part, locale))
    .join('; ')
}

function rank({ literals }: Template): number {
  return literals.join('').length + (literals[0] === '' ? 0 : 1_000_000)
}

function translateOne(english: string, locale: Locale, depth = 0): string {
  const key = fixed.get(english)
  if (key !== undefined) return reasonTexts[key][locale]
  for (const template of variable) {
    const values = valuesIn(english, template)
    if (!values) continue
    for (const name of nested) {
      const inner = values[name]
      if (inner !== undefined && depth < maxNesting) values[name] = translateOne(inner, locale, depth + 1)
    }
    return fill(reasonTexts[template.key][locale], values)
  }
  return english
}

/** The values with which the template gives the text; undefined when it cannot. Looks at each character of the text once. */
function valuesIn(text: string, { names, literals }: Template): Record<string, string> | undefined {
  const [first = '', ...others] = literals
  if (!text.startsWith(first)) return undefined
  const values: Record<string, string> = {}
  let from = first.length
  for (const [index, literal] of others.entries()) {
    const isLast = index === others.length - 1
    const to = isLast ? text.length - literal.length : text.indexOf(literal, from)
    if (to <= from || !text.startsWith(literal, to)) return undefined
    values[names[index] ?? ''] = text.slice(from, to)
    from = to + literal.length
  }
  return values
}

function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(valueName, (_, name: string) => String(values[name] ?? ''))
}

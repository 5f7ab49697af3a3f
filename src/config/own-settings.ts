// The settings that an instance can have of its own: the rows of the table that are marked as such.

import type { ChosenSettings, OwnSettingRule, OwnSettings, OwnValue } from '../core/chosen-settings.ts'
import type { Config } from './config.ts'
import type { Kind } from './setting-kinds.ts'
import { settings } from './settings.ts'
import type { OwnSetting, Setting } from './settings.ts'

type Section = keyof typeof settings
type MarkedIn<Rows> = {
  [K in keyof Rows as Rows[K] extends OwnSetting<unknown> ? K : never]: Rows[K] extends Setting<infer T> ? T : never
}
/** What the marked rows parse to. The compiler compares this with `ChosenSettings`. */
type Marked = Everything<{ [S in Section]: MarkedIn<(typeof settings)[S]> }[Section]>
type Everything<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

type MarkedRow = OwnSettingRule & { section: Section; key: string }

const rows: readonly MarkedRow[] = Object.entries(settings).flatMap(([section, all]) =>
  Object.entries<Setting<unknown>>(all).flatMap(([key, row]) =>
    isOwn(row) ? [{ section: section as Section, key, ...ruleOf(row) }] : [],
  ),
)

export const ownSettingRules: readonly OwnSettingRule[] = rows

/** A stored value that this build does not take, such as one of a later build, does not count. */
export function chooseSettings(config: Config, own: OwnSettings): ChosenSettings {
  const chosen = rows.map(({ section, key, field, parse }) => {
    const ofService = (config[section] as Record<string, unknown>)[key]
    return [key, parse(own[field]) ?? ofService]
  })
  return Object.fromEntries(chosen) as Marked
}

function isOwn(row: Setting<unknown>): row is OwnSetting<OwnValue> {
  return 'field' in row
}

function ruleOf({ field, name, kind, doc }: OwnSetting<OwnValue>): OwnSettingRule {
  const { schema = { type: 'string' }, takes = kind.takes } = kind.json ?? {}
  return { field, variable: name, doc, schema, takes, parse: (value) => parseJson(kind, schema.type, value) }
}

/** The same rule for both: a value of the API is checked as the text that the variable would have. */
function parseJson(kind: Kind<OwnValue>, type: 'boolean' | 'string' | 'array', value: unknown): OwnValue | undefined {
  if (type === 'array') return isList(value) ? kind.parse(value.join(',')) : undefined
  if (typeof value !== type) return undefined
  const text = kind.verbatim ? String(value) : String(value).trim()
  // An empty variable counts as absent. In the API null says that.
  return text === '' ? undefined : kind.parse(text)
}

/** An item with a comma would become two, and a list of one empty item an empty list. */
function isList(value: unknown): value is string[] {
  const isItem = (item: unknown) => typeof item === 'string' && item.trim() !== '' && !item.includes(',')
  return Array.isArray(value) && value.every(isItem)
}

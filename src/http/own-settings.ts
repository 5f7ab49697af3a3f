// The settings that an instance can have of its own, in the JSON of the API. Which ones there are is said by the table of
// settings.

import { Type } from 'typebox'
import type { Static, TObject, TSchema } from 'typebox'
import type { OwnSettingRule, OwnSettings, OwnSettingsChange, OwnValue } from '../core/chosen-settings.ts'
import { BridgeError } from '../core/errors.ts'
import { nullable } from './schemas.ts'

export type OwnSettingRules = readonly OwnSettingRule[]

/** The object with an optional field for each setting. */
export function withOwnFields<T extends TObject>(rules: OwnSettingRules, object: T) {
  return extend(object, (rule) => Type.Optional(fieldOf(rule, describe(rule))), rules)
}

/** The object as an answer: every setting is there. */
export function withOwnValues<T extends TObject>(rules: OwnSettingRules, object: T) {
  return extend(object, (rule) => fieldOf(rule, `Null: the setting of the service, ${rule.variable}, counts`), rules)
}

/** Absent means unchanged. */
export function readOwnSettings(rules: OwnSettingRules, body: Readonly<Record<string, unknown>>): OwnSettingsChange {
  const change: Record<string, OwnValue | null> = {}
  for (const { field, parse, takes } of rules) {
    const given = body[field]
    if (given === undefined) continue
    const value = given === null ? null : parse(given)
    if (value === undefined) throw new BridgeError('SERVICE_BAD_REQUEST', `${field} takes ${takes}, or null`)
    change[field] = value
  }
  return change
}

export function toOwnValues(rules: OwnSettingRules, own: OwnSettings): Record<string, OwnValue | null> {
  return Object.fromEntries(rules.map(({ field, parse }) => [field, parse(own[field]) ?? null]))
}

function extend<T extends TObject>(object: T, write: (rule: OwnSettingRule) => TSchema, rules: OwnSettingRules) {
  const { title } = object as { title?: string }
  const fields = Object.fromEntries(rules.map((rule) => [rule.field, write(rule)]))
  const whole = Type.Object({ ...object.properties, ...fields }, title === undefined ? {} : { title })
  return Type.Unsafe<Static<T>>(whole)
}

function fieldOf({ schema }: OwnSettingRule, description: string) {
  return nullable(Type.Unsafe<OwnValue>({ ...schema, description }))
}

function describe({ doc, schema, takes, variable }: OwnSettingRule): string {
  const isPlain = schema.type === 'string' && schema.enum === undefined
  return `${doc}. ${isPlain ? `Takes ${takes}. ` : ''}Null: ${variable}`
}

// The contact filter: the conditions that Chatwoot knows, joined as in its SQL.

import type { AccountRow, ContactRow } from '../state/rows.ts'
import { listedContacts } from './contact-lists.ts'
import type { Desk } from './desk.ts'
import { unprocessable } from './rails-error.ts'

export type Condition = {
  attribute_key: string
  filter_operator: string
  values?: readonly unknown[]
  query_operator?: string | null
}

const equality = ['equal_to', 'not_equal_to']
const textual = [...equality, 'contains', 'does_not_contain']
const dates = ['is_greater_than', 'is_less_than', 'days_before']
const operators: Record<string, readonly string[]> = {
  name: textual,
  phone_number: [...textual, 'starts_with'],
  email: textual,
  identifier: equality,
  country_code: equality,
  city: textual,
  company_name: textual,
  labels: [...equality, 'is_present', 'is_not_present'],
  created_at: dates,
  last_activity_at: dates,
  blocked: equality,
}

export function filterContacts(desk: Desk, account: AccountRow, conditions: readonly Condition[]): ContactRow[] {
  const rows = listedContacts(desk, account)
  for (const [at, condition] of conditions.entries()) {
    check(rows, condition, at === conditions.length - 1)
  }
  const groups = splitAtOr(conditions)
  if (groups.length === 0) return rows
  return rows.filter((row) => groups.some((group) => group.every((one) => holds(desk, row, one))))
}

function check(rows: ContactRow[], condition: Condition, isLast: boolean): void {
  const { attribute_key: key, filter_operator: operator, query_operator: joint } = condition
  const isCustom = () => rows.some((row) => key in row.customAttributes)
  const allowed = operators[key] ?? (isCustom() ? [...textual, 'is_present', 'is_not_present'] : undefined)
  if (!allowed) {
    const keys = Object.keys(operators).join(',')
    throw unprocessable(
      `Invalid attribute key - [${key}]. The key should be one of [${keys}] or a custom attribute defined in the account.`,
    )
  }
  if (!allowed.includes(operator)) {
    throw unprocessable(`Invalid operator. The allowed operators for ${key} are [${allowed.join(',')}].`)
  }
  if (!isLast && !['and', 'or'].includes(joint?.toLowerCase() ?? '')) {
    throw unprocessable('Query operator must be either "AND" or "OR".')
  }
  const needsValue = operator !== 'is_present' && operator !== 'is_not_present'
  if (needsValue && condition.values?.[0] == null) {
    throw unprocessable(`Invalid value. The values provided for ${key} are invalid`)
  }
}

/** AND binds tighter than OR, as in Chatwoot's SQL. */
function splitAtOr(conditions: readonly Condition[]): Condition[][] {
  const groups: Condition[][] = [[]]
  for (const condition of conditions) {
    groups.at(-1)?.push(condition)
    if (condition.query_operator?.toLowerCase() === 'or') groups.push([])
  }
  return groups.filter((group) => group.length > 0)
}

function holds(
  desk: Desk,
  row: ContactRow,
  { attribute_key: key, filter_operator: operator, values }: Condition,
): boolean {
  // Chatwoot uses only the first value.
  const wanted = asked(desk, key, plain(values?.[0]))
  const actual = valuesOf(row, key).map((value) => normal(key, value))
  switch (operator) {
    case 'equal_to':
      return actual.includes(wanted)
    case 'not_equal_to':
      return !actual.includes(wanted)
    case 'contains':
      return actual.some((value) => value.toLowerCase().includes(wanted.toLowerCase()))
    case 'does_not_contain':
      return !actual.some((value) => value.toLowerCase().includes(wanted.toLowerCase()))
    case 'starts_with':
      return actual.some((value) => value.startsWith(wanted))
    case 'is_present':
      return actual.length > 0
    case 'is_not_present':
      return actual.length === 0
    default:
      return compareDate(desk, Number(actual[0]), operator, plain(values?.[0]))
  }
}

function compareDate(desk: Desk, at: number, operator: string, wanted: string): boolean {
  if (operator === 'is_greater_than') return at > Date.parse(wanted)
  if (operator === 'is_less_than') return at < Date.parse(wanted)
  return at < desk.clock.now() - Number(wanted) * 86_400_000
}

function valuesOf(row: ContactRow, key: string): string[] {
  const known: Record<string, unknown> = {
    name: row.name,
    phone_number: row.phoneNumber,
    email: row.email,
    identifier: row.identifier,
    created_at: row.createdAt,
    last_activity_at: row.lastActivityAt,
    blocked: row.blocked,
  }
  if (key === 'labels') return row.labels
  const value = key in known ? known[key] : (row.customAttributes[key] ?? row.additionalAttributes[key])
  return value == null ? [] : [plain(value)]
}

/** Chatwoot adds a plus to a phone number. Old versions do not look whether it has one. */
function asked({ features }: Desk, key: string, value: string): string {
  if (key !== 'phone_number') return normal(key, value)
  return `+${features.plainPhoneFilter ? value.replace(/^\+/, '') : value}`
}

function normal(key: string, value: string): string {
  return ['identifier', 'name', 'email'].includes(key) ? value.toLowerCase() : value
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '')
}

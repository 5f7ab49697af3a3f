// The contact list, the contact search, and their order. Without a sort key there is no order.

import type { AccountRow, ContactRow } from '../state/rows.ts'
import { isListed } from './contacts.ts'
import type { Desk } from './desk.ts'

const contactsPerPage = 15

export type Page = { rows: ContactRow[]; total: number; hasMore: boolean }

export function listedContacts(desk: Desk, account: AccountRow): ContactRow[] {
  return desk.state.contacts.all().filter((one) => one.account === account && isListed(desk, one))
}

/** Old versions search only listed contacts. % and _ are wildcards, because Chatwoot puts q into LIKE unchanged. */
export function searchContacts(desk: Desk, account: AccountRow, q: string): ContactRow[] {
  const wanted = q.trim()
  if (wanted === '') return []
  const exact = like(wanted, '')
  const loose = like(wanted, 'i')
  const all = desk.state.contacts.all().filter((one) => one.account === account)
  const searched = desk.features.searchHasMore ? all : listedContacts(desk, account)
  return searched.filter((one) => {
    const company = desk.features.searchHasMore ? null : text(one.additionalAttributes['company_name'])
    const values = [one.name, one.email, one.phoneNumber, company]
    const inAnyCase = values.some((value) => value !== null && loose.test(value))
    return inAnyCase || (one.identifier !== null && exact.test(one.identifier))
  })
}

export function pageOf(desk: Desk, rows: ContactRow[], page: number, sort: string | undefined): Page {
  const ordered = inOrder(desk, rows, sort)
  const from = (Math.max(page, 1) - 1) * contactsPerPage
  return {
    rows: ordered.slice(from, from + contactsPerPage),
    total: rows.length,
    hasMore: ordered.length > from + contactsPerPage,
  }
}

const sortKeys: Record<string, (row: ContactRow) => string | number | null> = {
  name: (row) => row.name.toLowerCase(),
  email: (row) => row.email,
  phone_number: (row) => row.phoneNumber,
  last_activity_at: (row) => row.lastActivityAt,
  created_at: (row) => row.createdAt,
  company_name: (row) => text(row.additionalAttributes['company_name']),
  city: (row) => text(row.additionalAttributes['city']),
  country: (row) => text(row.additionalAttributes['country']),
}

function inOrder(desk: Desk, rows: ContactRow[], sort: string | undefined): ContactRow[] {
  const by = sortKeys[sort?.replace(/^-/, '') ?? '']
  if (by) return sortBy(rows, by, sort?.startsWith('-') ?? false)
  // PostgreSQL moves a row on every write, so the order changes.
  return sortBy(rows, (row) => desk.choices.fraction('heap', row.id, row.version), false)
}

/** Nulls come last in both directions. */
function sortBy(rows: ContactRow[], by: (row: ContactRow) => string | number | null, desc: boolean): ContactRow[] {
  const keyed = rows.map((row) => ({ row, key: by(row) }))
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null)
    const rising = a.key < b.key ? -1 : a.key > b.key ? 1 : 0
    return desc ? -rising : rising
  })
  return keyed.map(({ row }) => row)
}

function like(q: string, flags: string): RegExp {
  const pattern = q
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replaceAll('%', '.*')
    .replaceAll('_', '.')
  return new RegExp(pattern, `s${flags}`)
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

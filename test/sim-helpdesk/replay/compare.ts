// Compares a recorded answer with the simulator's: keys, types, and the values that carry a meaning.

import { asList, isFields } from '../harness/recordings.ts'
import type { Fields } from '../harness/recordings.ts'
import type { RecordedIds, Table } from './recorded-ids.ts'
import { tableOf } from './recorded-ids.ts'
import { derive, rowsOf } from './derived.ts'

export type Difference = { at: string; recorded: unknown; got: unknown }

/** Inside a shortened object everything may be shortened. */
type Place = { at: string; key: string; owner: Fields; table: Table; isShort: boolean }

/** A recorded object with one of these sets of keys is whole. The recorder shortened the other objects with an id. */
const wholeObjects = [
  ['inbox_id', 'content_type', 'private'],
  ['availability_status', 'blocked'],
  ['thumbnail', 'blocked'],
  ['available_name'],
  ['avatar_url', 'type'],
  ['uuid'],
  ['working_hours', 'secret'],
  ['pubsub_token'],
  ['data_url'],
  ['sentiment'],
  ['outgoing_url'],
]

export function compare(recorded: unknown, got: unknown, ids: RecordedIds, table: Table): Difference[] {
  return walk(recorded, got, ids, { at: '', key: '', owner: {}, table, isShort: false })
}

function walk(recorded: unknown, got: unknown, ids: RecordedIds, place: Place): Difference[] {
  if (recorded === '…') return []
  if (Array.isArray(recorded)) return walkList(recorded, got, ids, place)
  if (isFields(recorded)) return walkObject(recorded, got, ids, place)
  return isSame(recorded, got, ids, place) ? [] : [{ at: place.at, recorded, got }]
}

function walkList(recorded: unknown[], got: unknown, ids: RecordedIds, place: Place): Difference[] {
  if (!Array.isArray(got) || got.length !== recorded.length) return [{ at: place.at, recorded, got }]
  const list = place.table === 'contact' ? inRecordedOrder(recorded, got, ids) : got
  return recorded.flatMap((one, at) => walk(one, list[at], ids, { ...place, at: `${place.at}[${at}]` }))
}

/** A list of contacts has no order unless the request asks for one. */
function inRecordedOrder(recorded: unknown[], got: unknown[], ids: RecordedIds): unknown[] {
  return recorded.map((one, at) => {
    const id = isFields(one) ? ids.known('contact', Number(one['id'])) : undefined
    return got.find((other) => isFields(other) && id !== undefined && other['id'] === id) ?? got[at]
  })
}

function walkObject(recorded: Fields, given: unknown, ids: RecordedIds, place: Place): Difference[] {
  if (!isFields(given)) return [{ at: place.at, recorded, got: given }]
  const got = derive(recorded, given)
  const isShort = place.isShort || '…' in recorded
  const inside = (key: string) => (place.at === '' ? key : `${place.at}.${key}`)
  const differences = Object.entries(recorded).flatMap(([key, value]) => {
    if (key === '…') return []
    if (key === 'ids' && !(key in got)) return compareIds(value, rowsOf(got), ids, { ...place, at: inside(key) })
    if (key === 'sender' && typeof value === 'string') return compareSender(value, got[key], ids, inside(key))
    if (!(key in got)) return [{ at: inside(key), recorded: value, got: undefined }]
    const table = key === 'payload' || key === 'contact' || key === 'meta' ? place.table : 'row'
    return walk(value, got[key], ids, { at: inside(key), key, owner: recorded, table: atRoot(place, table), isShort })
  })
  const extra = !isShort && isWhole(recorded, got) ? Object.keys(got).filter((key) => !(key in recorded)) : []
  return [...differences, ...extra.map((key) => ({ at: inside(key), recorded: undefined, got: got[key] }))]
}

/** A list without a sort key has no order, so only the set of rows is compared. */
function compareIds(recorded: unknown, rows: Fields[], ids: RecordedIds, { at, table }: Place): Difference[] {
  const wanted = asList(recorded).map((one) => ids.actual(table, Number(one)))
  const got = rows.map((one) => Number(one['id']))
  const isEqual = wanted.length === got.length && wanted.every((one) => got.includes(one))
  return isEqual ? [] : [{ at, recorded: wanted, got }]
}

/** The recorder shortened a sender to its type and id, for example `contact 88`. */
function compareSender(recorded: string, got: unknown, ids: RecordedIds, at: string): Difference[] {
  const [type, id] = recorded.split(' ')
  const wanted = { type, ...(id === undefined ? {} : { id: Number(id) }) }
  return walk(wanted, got, ids, { at, key: 'sender', owner: {}, table: 'row', isShort: true })
}

/** The ids of the answer's own object belong to the table that the request names. */
function atRoot(place: Place, table: Table): Table {
  return place.at === '' || table === place.table ? place.table : table
}

function isWhole(recorded: Fields, got: Fields): boolean {
  if (!('id' in recorded)) return !('ids' in recorded) && !('id' in got)
  return wholeObjects.some((keys) => keys.every((key) => key in recorded))
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/
const plainTime = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const drawnName = /^[a-z]+-[a-z]+-\d+$/
/** Values that differ from run to run. Only their form is compared. */
const forms = [isoTime, plainTime, uuid, drawnName, /^[0-9a-f]{64}$/]
const timeKeys = /_at$|^timestamp$|^waiting_since$|^snoozed_until$/

function isSame(recorded: unknown, got: unknown, ids: RecordedIds, { key, owner, table }: Place): boolean {
  if (typeof recorded === 'string') return typeof got === 'string' && isSameText(recorded, got)
  if (typeof recorded !== 'number' || typeof got !== 'number') return recorded === got
  if (timeKeys.test(key)) return (recorded === 0) === (got === 0)
  const idTable = tableOf(key, owner, table)
  const isId = key === 'id' || key === 'in_reply_to' || (key.endsWith('_id') && idTable !== undefined)
  return isId && idTable !== undefined ? ids.bind(idTable, recorded, got) : recorded === got
}

function isSameText(recorded: string, got: string): boolean {
  const form = forms.find((one) => one.test(recorded))
  if (form) return form.test(got)
  if (recorded.startsWith('<!DOCTYPE html>')) return got.startsWith('<!DOCTYPE html>')
  if (!/<[\w ]+>|chatwoot\.example/.test(recorded)) return recorded === got
  const pattern = recorded
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('https://chatwoot\\.example', 'https?://[^/]+')
    .replace(/<[\w ]+>/g, '[^/]+')
  const bare = recorded.includes('?') ? got : got.replace(/\?.*/, '')
  return new RegExp(`^${pattern}$`).test(decodeURIComponent(bare))
}

// Sends a recorded request to the simulator, with the simulator's tokens and ids in place of the recorded ones.

import type { Answer } from '../harness/desk-client.ts'
import { isFields } from '../harness/recordings.ts'
import type { Fields, RecordedRequest, Recording } from '../harness/recordings.ts'
import type { RecordedIds, Table } from './recorded-ids.ts'
import { tableOf } from './recorded-ids.ts'
import type { ReplayBench } from './replay-bench.ts'

export type Sent = { status: number; text: string; json: unknown }

export async function sendRecorded(
  bench: ReplayBench,
  { request }: Recording,
  instead?: (bench: ReplayBench) => Promise<unknown>,
): Promise<Sent> {
  if (instead) {
    const { status, text, body } = (await instead(bench)) as Answer
    return { status, text, json: text === '' ? '' : body }
  }
  if (!request) throw new Error('the recording has no request')
  const isJson = isFields(request.body)
  const response = await fetch(bench.helpdesk.url + pathOf(bench, request.path), {
    method: request.method,
    redirect: 'manual',
    headers: {
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headersOf(bench, request),
    },
    ...(request.body === undefined
      ? {}
      : { body: isJson ? JSON.stringify(bodyOf(bench, request.body)) : request.body }),
  } as RequestInit)
  const text = await response.text()
  const isJsonAnswer = response.headers.get('content-type')?.includes('json') === true && text !== ''
  return { status: response.status, text, json: isJsonAnswer ? JSON.parse(text) : text }
}

function headersOf(
  bench: ReplayBench,
  { auth = '<admin token>', headers = {} }: RecordedRequest,
): Record<string, string> {
  const fill = (text: string) =>
    Object.entries(bench.tokens).reduce((done, [name, token]) => done.replace(name, token), text)
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]))
  return auth === 'none' ? own : { 'Api-Access-Token': fill(auth), ...own }
}

const segments: Record<string, Table> = {
  inboxes: 'inbox',
  inbox_members: 'inbox',
  contacts: 'contact',
  conversations: 'conversation',
  messages: 'message',
}

function pathOf(bench: ReplayBench, path: string): string {
  const isPublic = path.startsWith('/public/')
  const named = Object.entries(bench.named).reduce((done, [name, value]) => done.replace(name, value), path)
  return named
    .replace(/\/(\w+)\/(\d+)(?=[/?]|$)/g, (all, segment: string, id: string) => {
      const table = isPublic && segment === 'contacts' ? undefined : segments[segment]
      return table ? `/${segment}/${bench.ids.actual(table, Number(id))}` : all
    })
    .replace(/inbox_id=(\d+)/, (_, id: string) => `inbox_id=${bench.ids.actual('inbox', Number(id))}`)
}

function bodyOf(bench: ReplayBench, body: Fields | string): unknown {
  return rewrite(body, '', {}, bench)
}

function rewrite(value: unknown, key: string, owner: Fields, bench: ReplayBench): unknown {
  if (Array.isArray(value)) return value.map((one) => rewrite(one, key, owner, bench))
  if (isFields(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rewrite(one, name, value, bench)]))
  }
  if (typeof value === 'string' && value in bench.named) return bench.named[value]
  const table = key === 'id' ? undefined : tableOf(key, owner, 'row')
  if (table === undefined) return typeof value === 'string' ? expand(value) : value
  return rewriteId(value, table, bench.ids)
}

function rewriteId(value: unknown, table: Table, ids: RecordedIds): unknown {
  if (typeof value === 'number') return ids.actual(table, value)
  return typeof value === 'string' && /^\d+$/.test(value) ? String(ids.actual(table, Number(value))) : value
}

/** The table of the answer's own id: the last named thing in the path. */
export function rootTable(path: string): Table {
  const last = path
    .split('?')[0]
    ?.split('/')
    .findLast((one) => one in segments || one === 'actions' || one === 'agent_bots')
  if (path.includes('/contact_inboxes/filter')) return 'contact'
  if (last === 'actions') return 'contact'
  return segments[last ?? ''] ?? 'row'
}

/** The recordings shorten long texts to `xxx… (150000 chars)`. */
function expand(text: string): string {
  const [, start = '', length] = /^(.*)… \((\d+) chars\)$/s.exec(text) ?? []
  return length === undefined ? text : start.padEnd(Number(length), start.at(-1))
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noImportProgress } from '../core/jobs/history-jobs.ts'
import type { HistoryJobType, ImportParams } from '../core/jobs/history-jobs.ts'
import { noContactsProgress } from '../core/jobs/contacts-jobs.ts'
import type { Job, JobOrder } from '../core/jobs/job.ts'
import { ruleOn } from './job-rules.ts'

const paramsOf = (chat: string[] | null): ImportParams => ({
  ...{ chat, count: 50, timeoutMs: 30_000, days: 7, mediaDays: 0 },
})

function job(id: string, type: HistoryJobType, chat: string[] | null = null): Job {
  const times = { createdAt: 1, startedAt: null, endedAt: null }
  const rest = { progress: noImportProgress, error: null, result: null }
  return { id, type, instance: 'shop', status: 'pending', params: paramsOf(chat), ...times, ...rest }
}

function importOfContacts(id: string): Job {
  const times = { createdAt: 1, startedAt: null, endedAt: null }
  const rest = { progress: noContactsProgress, error: null, result: null }
  const params = { only: null, create: false }
  return { id, type: 'contacts_import', instance: 'shop', status: 'pending', params, ...times, ...rest }
}

/** The ruling with the id of the job that it names. */
function rule(order: JobOrder, unfinished: readonly Job[]): string {
  const ruling = ruleOn(order, unfinished)
  if ('refuse' in ruling) return `refuse ${ruling.refuse.id}`
  return 'share' in ruling ? `share ${ruling.share.id}` : 'add'
}

const chat = (...jids: string[]) => ({ type: 'history_chat', params: paramsOf(jids) }) as const
const all = { type: 'history_all', params: paramsOf(null) } as const
const pairing = { type: 'history_pairing', params: paramsOf(null) } as const

test('an import of all chats, on request or after a pairing, is alone', () => {
  for (const type of ['history_all', 'history_pairing'] as const) {
    assert.equal(rule(all, [job('a', 'history_chat', ['1']), job('b', type)]), 'refuse b')
    assert.equal(rule(chat('1'), [job('b', type)]), 'refuse b')
  }
})

test('an import of a chat shares the job of the same chat, by any of its addresses', () => {
  const unfinished = [job('a', 'history_chat', ['1', '2']), job('b', 'history_chat', ['3'])]
  assert.equal(rule(chat('2'), unfinished), 'share a')
  assert.equal(rule(chat('3', '4'), unfinished), 'share b')
  assert.equal(rule(chat('4'), unfinished), 'add')
})

test('an import of all chats waits for imports of single chats', () => {
  assert.equal(rule(all, [job('a', 'history_chat', ['1'])]), 'add')
})

test('the import of a pairing waits for all others', () => {
  assert.equal(rule(pairing, [job('a', 'history_all'), job('b', 'history_pairing')]), 'add')
})

test('of each other type an instance has one unfinished job, and imports of history do not count', () => {
  const contacts = { type: 'contacts_import', params: { only: 'saved', create: true } } as const
  const repair = { type: 'contacts_repair', params: { dryRun: true } } as const
  const unfinished = [job('a', 'history_all'), importOfContacts('b')]
  assert.equal(rule(contacts, unfinished), 'refuse b')
  assert.equal(rule(repair, unfinished), 'add')
  assert.equal(rule(contacts, [job('a', 'history_all')]), 'add')
  assert.equal(rule(chat('1'), [importOfContacts('b')]), 'add')
})

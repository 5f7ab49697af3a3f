import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noProgress } from '../../core/history/job.ts'
import type { ImportParams, Job, JobType } from '../../core/history/job.ts'
import { ruleOn } from './job-rules.ts'

const paramsOf = (chat: string[] | null): ImportParams => ({
  ...{ chat, count: 50, timeoutMs: 30_000, days: 7, mediaDays: 0 },
})

function job(id: string, type: JobType, chat: string[] | null = null): Job {
  const times = { createdAt: 1, startedAt: null, endedAt: null }
  const rest = { progress: noProgress, error: null, result: null }
  return { id, type, instance: 'shop', status: 'pending', params: paramsOf(chat), ...times, ...rest }
}

const chat = (...jids: string[]) => ({ type: 'history_chat', params: paramsOf(jids) }) as const
const all = { type: 'history_all', params: paramsOf(null) } as const
const pairing = { type: 'history_pairing', params: paramsOf(null) } as const

test('an import of all chats, on request or after a pairing, is alone', () => {
  for (const type of ['history_all', 'history_pairing'] as const) {
    assert.deepEqual(ruleOn(all, [job('a', 'history_chat', ['1']), job('b', type)]), { refuse: 'b' })
    assert.deepEqual(ruleOn(chat('1'), [job('b', type)]), { refuse: 'b' })
  }
})

test('an import of a chat shares the job of the same chat, by any of its addresses', () => {
  const unfinished = [job('a', 'history_chat', ['1', '2']), job('b', 'history_chat', ['3'])]
  assert.deepEqual(ruleOn(chat('2'), unfinished), { share: 'a' })
  assert.deepEqual(ruleOn(chat('3', '4'), unfinished), { share: 'b' })
  assert.deepEqual(ruleOn(chat('4'), unfinished), { add: true })
})

test('an import of all chats waits for imports of single chats', () => {
  assert.deepEqual(ruleOn(all, [job('a', 'history_chat', ['1'])]), { add: true })
})

test('the import of a pairing waits for all others', () => {
  assert.deepEqual(ruleOn(pairing, [job('a', 'history_all'), job('b', 'history_pairing')]), { add: true })
})

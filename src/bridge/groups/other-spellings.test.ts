import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GroupError } from '../../core/group-administration.ts'
import type { MemberResult } from '../../core/group-administration.ts'
import type { Jid } from '../../core/ids.ts'
import { tryOtherSpellings } from './other-spellings.ts'

const long = '5511988880001@s.whatsapp.net'
const short = '551188880001@s.whatsapp.net'
const german = '4915100000001@s.whatsapp.net'
const result = (address: Jid, code: string | null): MemberResult => ({ address, code, invitation: null })

test('a number that is not known is tried under its other spelling, and keeps the address of the caller', async () => {
  const asked: Jid[][] = []
  const change = (addresses: readonly Jid[]) => {
    asked.push([...addresses])
    return Promise.resolve(addresses.map((address) => result(address, null)))
  }
  const first = [result(german, '404'), result(long, '404'), result('1@lid', '404'), result('2@lid', null)]
  assert.deepEqual(await tryOtherSpellings(first, change), [
    result(german, '404'),
    result(long, null),
    result('1@lid', '404'),
    result('2@lid', null),
  ])
  assert.deepEqual(asked, [[short]])
})

test('nothing is asked when no result calls for it, or the caller gave both spellings', async () => {
  const change = () => Promise.reject(new Error('asked'))
  for (const first of [[], [result(long, null)], [result(long, '403')], [result(long, '404'), result(short, null)]]) {
    assert.deepEqual(await tryOtherSpellings(first, change), first)
  }
})

test('the first results stay when the second question fails', async () => {
  const first = [result(long, '404')]
  assert.deepEqual(await tryOtherSpellings(first, () => Promise.reject(new GroupError('failed', 'no answer'))), first)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeAddress } from './judge-address.ts'
import type { InboxUse } from './inbox-use.ts'
import type { AddressVerdict } from './judge-address.ts'

const publicUrl = 'https://bridge.example'
const of = (instance: string, base = publicUrl) => `${base}/api/instances/${instance}/webhook`
const there = 'https://other.example'

type Expected = AddressVerdict['kind'] | `${AddressVerdict['kind']}, shared`

const rows: [what: string, address: string, isInUse: boolean, use: InboxUse, expected: Expected, url: string][] = [
  ['no address', '', false, 'none', 'wrong', of('sales')],
  ['no URL', 'not a url', true, 'none', 'wrong', of('sales')],
  ['our own address', of('sales'), true, 'none', 'right', of('sales')],
  ['our own address, not in use yet', of('sales'), false, 'none', 'right', of('sales')],
  ['another instance that shares the inbox', of('support'), false, 'shared', 'right, shared', of('support')],
  ['another instance with another inbox', of('support'), true, 'other', 'taken', of('sales')],
  ['an instance that is gone', of('gone'), false, 'none', 'wrong', of('sales')],
  ['our path elsewhere, in use', of('sales', there), true, 'none', 'wrong', of('sales')],
  ['our path elsewhere, not in use', of('sales', there), false, 'none', 'taken', of('sales')],
  ['the path of a sharing instance elsewhere', of('support', there), true, 'shared', 'wrong, shared', of('support')],
  ['the path of an unknown instance elsewhere', of('gone', there), true, 'none', 'taken', of('sales')],
  ['the path of an instance with another inbox elsewhere', of('support', there), true, 'other', 'taken', of('sales')],
  ['something else', 'https://n8n.example/1', true, 'none', 'taken', of('sales')],
  ['something else at our host', `${publicUrl}/other`, true, 'none', 'taken', of('sales')],
]

for (const [what, address, isInUse, use, expected, url] of rows) {
  test(`${what} is ${expected}`, () => {
    const verdict = judgeAddress({ address, name: 'sales', publicUrl, isInUse, use })
    const isShared = verdict.kind !== 'taken' && verdict.isShared
    assert.deepEqual([isShared ? `${verdict.kind}, shared` : verdict.kind, verdict.url], [expected, url])
  })
}

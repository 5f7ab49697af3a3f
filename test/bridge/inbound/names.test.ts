import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BridgeBed, message } from './harness/bridge-bed.ts'

test('a name is shown as saved until it is taken out of the address book', async () => {
  await using bed = await BridgeBed.open()
  const chat = { kind: 'group' as const, id: '120363000000000001' }
  const person = { phone: '5511988887777', lid: null }
  await bed.receive(message('one', { chat }))
  await bed.posted(1)
  bed.set.reception.onNames('a', [{ person, savedName: 'Mum' }])
  await bed.settle()
  await bed.receive(message('two', { chat }))
  await bed.posted(2)
  bed.set.reception.onNames('a', [{ person, savedName: null }])
  await bed.settle()
  await bed.receive(message('three', { chat }))
  await bed.posted(3)
  const shown = bed.helpdesk.contents.map((content) => content.split('\n')[0])
  assert.deepEqual(shown, ['`+5511988887777 · ~Maria`', '`+5511988887777 · Mum`', '`+5511988887777 · ~Maria`'])
})

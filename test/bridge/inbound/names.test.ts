import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DownstreamError } from '../../../src/core/downstream.ts'
import { BridgeBed, envelope, message } from './harness/bridge-bed.ts'

test('a name is shown as saved until it is taken out of the address book', async () => {
  await using bed = await BridgeBed.open()
  const chat = { kind: 'group' as const, id: '120363000000000001' }
  const person = { phone: '5511988887777', lid: null }
  await bed.receive(message('one', { chat }))
  await bed.posted(1)
  void bed.set.reception.onNames('a', [{ person, savedName: 'Mum' }])
  await bed.settle()
  await bed.receive(message('two', { chat }))
  await bed.posted(2)
  void bed.set.reception.onNames('a', [{ person, savedName: null }])
  await bed.settle()
  await bed.receive(message('three', { chat }))
  await bed.posted(3)
  const shown = bed.helpdesk.contents.map((content) => content.split('\n')[0])
  assert.deepEqual(shown, ['`+5511988887777 · ~Maria`', '`+5511988887777 · Mum`', '`+5511988887777 · ~Maria`'])
})

test('after a change of a group, the network is asked for the group again', async () => {
  await using bed = await BridgeBed.open()
  let asked = 0
  bed.session = {
    groupInfo: (id) => {
      asked++
      return Promise.resolve({ id, subject: 'Family', members: [] })
    },
  }
  const chat = { kind: 'group' as const, id: '120363000000000001' }
  const receive = async (text: string) => {
    await bed.receive(message(text, { chat }))
    await bed.drained()
  }
  await receive('one')
  await receive('two')
  assert.equal(asked, 1)
  await bed.receive({ ...envelope({ chat }), kind: 'group', changes: [{ change: 'subject', subject: 'Friends' }] })
  await bed.drained()
  await receive('three')
  assert.equal(asked, 2)
})

test('a name that the helpdesk refused is tried again at the next change', async () => {
  await using bed = await BridgeBed.open()
  const chat = { kind: 'group' as const, id: '120363000000000001' }
  const nameStored = async () =>
    (await bed.database.read(bed.database.query.selectFrom('contacts').select('name'))).map(({ name }) => name)
  const rename = async () => {
    await bed.receive({ ...envelope({ chat }), kind: 'group', changes: [{ change: 'subject', subject: 'Friends' }] })
    await bed.drained()
  }
  await bed.receive(message('one', { chat }))
  await bed.drained()
  const [before] = await nameStored()
  bed.helpdesk.script = (call) => {
    if (call === 'updateContact') throw new DownstreamError('transient', 'busy')
  }
  await rename()
  assert.deepEqual(await nameStored(), [before])
  bed.helpdesk.script = () => undefined
  await rename()
  assert.notEqual(before, 'Friends')
  assert.deepEqual(await nameStored(), ['Friends'])
})

test('a pair of addresses is stored only for people who have written', async () => {
  await using bed = await BridgeBed.open()
  await bed.receive(message('one'))
  await bed.drained()
  bed.set.reception.onPairs('a', [
    { phone: '5511988887777', lid: '1001' },
    { phone: '5511900002222', lid: '1002' },
  ])
  await bed.settle()
  const people = await bed.database.read(bed.database.query.selectFrom('people').select(['phone', 'lid']))
  assert.deepEqual(people, [{ phone: '5511988887777', lid: '1001' }])
})

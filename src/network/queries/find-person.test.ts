import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BinaryNode } from '../library/library.ts'
import { findPerson } from './find-person.ts'

const jid = '5511999990001@s.whatsapp.net'

function answering(...contact: BinaryNode[]) {
  const user = { tag: 'user', attrs: { jid }, content: contact }
  const list = { tag: 'list', attrs: {}, content: [user] }
  return () => Promise.resolve({ tag: 'iq', attrs: {}, content: [{ tag: 'usync', attrs: {}, content: [list] }] })
}

const contact = (attrs: Record<string, string>, content: BinaryNode[] = []): BinaryNode => ({
  tag: 'contact',
  attrs,
  content,
})

test('a number is on the network, or is not, when the network says so', async () => {
  assert.deepEqual(await findPerson(answering(contact({ type: 'in' })), '5511999990001'), {
    phone: '5511999990001',
    lid: null,
  })
  for (const type of ['out', 'invalid']) assert.equal(await findPerson(answering(contact({ type })), '551'), null)
})

test('no clear answer is no refusal of the number', async () => {
  const failed = contact({}, [{ tag: 'error', attrs: { code: '429', text: 'rate-overlimit' } }])
  const unclear = [answering(), answering(failed), answering(contact({ type: 'busy' }))]
  for (const ask of unclear) await assert.rejects(findPerson(ask, '5511999990001'), /did not say/)
})

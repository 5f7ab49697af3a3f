// A contact with the customer's phone number exists before the customer writes.

import assert from 'node:assert/strict'
import { onEveryVersion } from '../../harness/helpdesk-versions.ts'
import { World } from '../../harness/world.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'
import type { Json } from '../../sim-helpdesk/harness/desk-client.ts'

const phone = '5511988887777'

async function importContact(client: DeskClient): Promise<number> {
  const { body, text } = await client.post('/contacts', { name: 'Imported', phone_number: `+${phone}` })
  assert.ok(body['payload'], text)
  return (body['payload'] as { contact: Json }).contact.id
}

onEveryVersion('a message of an imported contact goes to that contact', async (version) => {
  await using world = await World.open({ helpdesk: { version } })
  const contactId = await importContact(new DeskClient(world.helpdesk))
  const maria = world.network.person({ phone, pushName: 'Maria' })
  const message = await world.arrived(maria.text(world.phone, 'hello'))
  assert.equal(message.sender?.id, contactId)
  const contacts = world.helpdesk.see.contacts()
  assert.deepEqual(
    contacts.map(({ id, phoneNumber }) => [id, phoneNumber]),
    [[contactId, `+${phone}`]],
  )
  world.helpdesk.assertNothingRefused()
})

onEveryVersion('the answer to a conversation that an agent began goes into that conversation', async (version) => {
  await using world = await World.open({ helpdesk: { version } })
  const agent = new DeskClient(world.helpdesk, world.helpdesk.agent.token)
  const contactId = await importContact(agent)
  const begun = await agent.post('/conversations', {
    inbox_id: 1,
    contact_id: contactId,
    message: { content: 'Hello, this is Acme' },
  })
  assert.equal(begun.status, 200, begun.text)
  const maria = world.network.person({ phone, pushName: 'Maria' })
  const message = await world.arrived(maria.text(world.phone, 'hello'))
  assert.deepEqual([message.conversationId, message.sender?.id], [begun.body.id, contactId])
  assert.equal(world.helpdesk.see.contacts().length, 1)
  assert.equal(world.helpdesk.see.conversations().length, 1)
  world.helpdesk.assertNothingRefused()
})

// What customers and the owner write, on several versions of Chatwoot.

import assert from 'node:assert/strict'
import type { HelpdeskVersion } from '../../../sim/helpdesk/versions.ts'
import { World } from '../../harness/world.ts'
import { onEveryVersion } from '../../harness/helpdesk-versions.ts'
import { DeskClient } from '../../sim-helpdesk/harness/desk-client.ts'

const phone = '5511988887777'

async function open(version: HelpdeskVersion) {
  const world = await World.open({ helpdesk: { version } })
  return {
    world,
    maria: world.network.person({ phone, pushName: 'Maria' }),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

onEveryVersion('texts, quotes, files and the owner’s own messages reach one conversation', async (version) => {
  await using stage = await open(version)
  const { world, maria } = stage
  const first = maria.text(world.phone, 'hello')
  const hello = await world.arrived(first)
  const [contact] = world.helpdesk.see.contacts()
  assert.deepEqual([contact?.name, contact?.phoneNumber], ['Maria', `+${phone}`])
  const picture = await world.arrived(maria.media(world.phone, 'image', { bytes: Buffer.from('x'), caption: 'see' }))
  assert.deepEqual([picture.content, picture.files[0]?.fileType], ['see', 'image'])
  const sent = maria.media(world.phone, 'document', { bytes: Buffer.from('%PDF'), fileName: 'report.pdf' })
  assert.equal((await world.arrived(sent)).files[0]?.filename, 'report.pdf')
  const echo = await world.arrived(world.phone.text(maria, 'from the phone'))
  assert.deepEqual([echo.messageType, echo.conversationId], ['outgoing', hello.conversationId])
  assert.equal(world.helpdesk.see.conversations().length, 1)
  world.helpdesk.assertNothingRefused()
})

onEveryVersion('a message after a resolve opens another conversation of the same contact', async (version) => {
  await using stage = await open(version)
  const { world, maria } = stage
  const hello = await world.arrived(maria.text(world.phone, 'hello'))
  const agent = new DeskClient(world.helpdesk, world.helpdesk.agent.token)
  await agent.post(`/conversations/${hello.conversationId}/toggle_status`, { status: 'resolved' })
  await world.restart()
  const again = await world.arrived(maria.text(world.phone, 'me again'))
  assert.notEqual(again.conversationId, hello.conversationId)
  assert.equal(world.helpdesk.see.contacts().length, 1)
  world.helpdesk.assertNothingRefused()
})

onEveryVersion('a conversation that an agent deleted is opened again', async (version) => {
  await using stage = await open(version)
  const { world, maria } = stage
  const hello = await world.arrived(maria.text(world.phone, 'hello'))
  world.helpdesk.world.deleteConversation(hello.conversationId)
  const again = await world.arrived(maria.text(world.phone, 'me again'))
  assert.notEqual(again.conversationId, hello.conversationId)
  world.helpdesk.assertNothingRefused()
})

onEveryVersion('a file keeps the name that the customer gave it', async (version) => {
  await using stage = await open(version)
  const { world, maria } = stage
  const fileName = 'Relatório final (1).pdf'
  const sent = maria.media(world.phone, 'document', { bytes: Buffer.from('%PDF'), fileName })
  assert.equal((await world.arrived(sent)).files[0]?.filename, fileName)
})

// What agents write and read follows the settings of the instance that sends.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentWorld } from '../../harness/agent-world.ts'

test('sign_messages puts the name of the agent before the message, from the next message on', async () => {
  await using world = await AgentWorld.open()
  await world.write('plain')
  await world.received('plain')
  await world.patch('n0', { sign_messages: true })
  await world.write('signed')
  await world.received('*Ana:*\nsigned')
  await world.patch('n0', { sign_messages: null })
  await world.write('plain again')
  await world.received('plain again')
})

test('an instance can leave messages unsigned in a service that signs them', async () => {
  await using world = await AgentWorld.open({ environment: { SERVICE_SIGN_MESSAGES: 'true' } })
  await world.write('of the service')
  await world.received('*Ana:*\nof the service')
  await world.patch('n0', { sign_messages: false })
  await world.write('of the instance')
  await world.received('of the instance')
})

test('agents read why a message was not sent in the language of the instance', async () => {
  await using world = await AgentWorld.open()
  const reasonOf = async (content: string) => {
    const id = await world.write(content)
    // Chatwoot first writes the status of the refused callback as the reason.
    const isWritten = (reason: unknown) => String(reason).includes('65536')
    const message = await world.shown(id, ({ contentAttributes }) => isWritten(contentAttributes['external_error']))
    return String(message.contentAttributes['external_error'])
  }
  const tooLong = 'x'.repeat(66_000)
  assert.match(await reasonOf(tooLong), /^the text is longer than the 65536 characters/)
  await world.patch('n0', { locale: 'pt' })
  assert.match(await reasonOf(`${tooLong}y`), /^o texto passa dos 65536 caracteres/)
})

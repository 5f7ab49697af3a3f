// Answers that belong to other messages: quotes and mentions in groups.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unwrap } from '../../../sim/network/people/received-message.ts'
import type { ReceivedMessage } from '../../../sim/network/people/received-message.ts'

const quoteOf = ({ message }: ReceivedMessage) => unwrap(message).extendedTextMessage?.contextInfo

/** A message of the network, as the helpdesk shows it. */
const posted = (world: AgentWorld, { id }: { id: string }) =>
  world.helpdesk.waitForMessage(undefined, ({ sourceId }) => sourceId === id)

const replyTo = (id: number) => ({ content_attributes: { in_reply_to: id } })

test('in a group the quote names who is quoted, and only members are mentioned', async () => {
  await using world = await AgentWorld.open()
  const eve = world.network.person({ phone: '5511888880002', lid: '200000000000002', pushName: 'Eve' })
  const group = world.network.group('Team', world.bob, [world.phone, eve])
  const question = eve.text(group, 'who comes?')
  const asked = await posted(world, question)
  await world.write(
    '@5511888880002 and @+5511777770000 and me@5511888880002.example',
    replyTo(asked.id),
    asked.conversationId,
  )
  const shown = '@5511888880002 and @+5511777770000 and me@5511888880002.example'
  const answer = await world.received(shown, eve)
  const context = quoteOf(answer)
  assert.equal(context?.stanzaId, question.id)
  assert.ok([eve.user.pnJid, eve.user.lidJid].includes(context.participant ?? ''), context.participant ?? 'nobody')
  assert.equal(context.mentionedJid?.length, 1)
})

// A customer writes right after an agent has resolved the conversation.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { waitUntil } from '../../harness/wait-until.ts'

for (const engine of drawnEngines(import.meta.url)) {
  test(`a message right after Resolve opens a new conversation, on ${engine}`, async () => {
    await using world = await AgentWorld.open({ engine })
    const first = await world.arrived(world.bob.text(world.phone, 'question'))
    const path = `/conversations/${first.conversationId}/toggle_status`
    await world.agent.post(path, { status: 'resolved' })
    await world.helpdesk.waitForDelivery(
      'the status of the conversation',
      ({ event, body }) => event === 'conversation_status_changed' && 'id' in body && body.id === first.conversationId,
    )
    const second = await world.arrived(world.bob.text(world.phone, 'another question'))
    assert.notEqual(second.conversationId, first.conversationId)
    const third = await world.arrived(world.bob.text(world.phone, 'and more'))
    assert.equal(third.conversationId, second.conversationId)
  })

  test(`a message that WhatsApp delivers again after Resolve opens no conversation, on ${engine}`, async () => {
    await using world = await AgentWorld.open({ engine })
    const sent = world.bob.text(world.phone, 'question', { id: '3EB0REPEATED' })
    const { conversationId } = await world.arrived(sent)
    await world.agent.post(`/conversations/${conversationId}/toggle_status`, { status: 'resolved' })
    const isResolved = (event: string) => event === 'conversation_status_changed'
    await world.helpdesk.waitForDelivery('the status of the conversation', ({ event }) => isResolved(event))
    const before = world.helpdesk.see.conversations().length
    world.bob.text(world.phone, 'question', { id: '3EB0REPEATED' })
    await waitUntil('the repeat is counted', async () => {
      const { text } = await world.service.get('/metrics')
      return /service_duplicates_total\{instance="n0",kind="message"\} 1/.test(text)
    })
    assert.equal(world.helpdesk.see.conversations().length, before)
    assert.equal(world.helpdesk.messages().filter(({ sourceId }) => sourceId === sent.id).length, 1)
  })
}

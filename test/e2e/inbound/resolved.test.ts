// A customer writes right after an agent has resolved the conversation.

import { AgentWorld } from '../../harness/agent-world.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawnEngines } from '../../harness/drawn-engine.ts'

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
}

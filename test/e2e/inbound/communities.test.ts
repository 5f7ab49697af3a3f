// Communities and channels: the announcement group of a community is a group, and channels are only counted.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SimGroup } from '../../../sim/network/groups/sim-group.ts'
import { textOfMessage } from '../../../sim/network/people/received-message.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { AgentWorld } from '../../harness/agent-world.ts'
import { drawnEngines } from '../../harness/drawn-engine.ts'
import { waitUntil } from '../../harness/wait-until.ts'

const messageSecret = Buffer.alloc(32, 7)

for (const engine of drawnEngines(import.meta.url)) {
  describe(`communities and channels on ${engine}`, () => {
    let world: AgentWorld
    let maria: SimPerson
    let announcements: SimGroup
    before(async () => {
      world = await AgentWorld.open({ engine })
      maria = world.network.person({ phone: '5511988887777', pushName: 'Maria' })
      announcements = world.network.community('Clube', maria, [world.phone, world.bob]).announcements
    })
    after(() => world[Symbol.asyncDispose]())

    const counted = async (line: RegExp) => {
      await waitUntil(`the metric ${line.source}`, async () => line.test((await world.service.get('/metrics')).text))
    }

    test('a message of the announcement group arrives in the conversation of the group, with the header of its author', async () => {
      const message = await world.arrived(maria.text(announcements, 'we meet on Friday'))
      assert.equal(message.content, '`+5511988887777 · ~Maria`\n\nwe meet on Friday')
      const contact = world.helpdesk.see.contacts().find(({ identifier }) => identifier === announcements.jid)
      assert.equal(contact?.name, 'Clube')
    })

    test('the answer of an agent reaches the members only if the account is an administrator', async () => {
      const { conversationId } = await world.arrived(maria.text(announcements, 'questions?'))
      const refused = await world.write('not yet allowed', {}, conversationId)
      await world.shown(refused, ({ status }) => status === 'failed')
      announcements.change(maria.user, 'promote', world.phone.user)
      await world.write('allowed', {}, conversationId)
      const received = await world.received('allowed')
      assert.equal(received.chat, announcements.jid)
      assert.ok(!world.texts().includes('not yet allowed'))
      assert.equal(textOfMessage(received.message), 'allowed')
    })

    test('a member of the announcement group reacts, and the sealed reaction is shown', async () => {
      const sent = maria.send(announcements, { conversation: 'pizza?', messageContextInfo: { messageSecret } })
      const shown = await world.arrived(sent)
      const known = await world.bob.messages.waitFor('the message', ({ id }) => id === sent.id)
      const reaction = await world.arrived(world.bob.sealedReaction(known, '👍'))
      assert.equal(reaction.content, '`+5511888880001 · ~Bob`\nreacted with 👍')
      assert.equal(reaction.contentAttributes['in_reply_to'], shown.id)
      await counted(/service_realtime_events_total\{feature="reaction",result="ok",instance="n0"\} 1\n/)
    })

    test("a member reacts to an agent's announcement, and the sealed reaction is shown", async () => {
      const { conversationId } = await world.arrived(maria.text(announcements, 'your turn'))
      const sent = Number((await world.outbox())['sent'])
      const written = await world.write('we open on Monday', {}, conversationId)
      const known = await world.received('we open on Monday')
      await waitUntil('the announcement is stored', async () => (await world.outbox())['sent'] === sent + 1)
      const reaction = await world.arrived(world.bob.sealedReaction(known, '🎉'))
      assert.equal(reaction.content, '`+5511888880001 · ~Bob`\nreacted with 🎉')
      assert.equal(reaction.contentAttributes['in_reply_to'], written)
    })

    test('a sealed reaction to a message that is not known here is not shown', async () => {
      const unknown = { ...maria.text(announcements, 'without a secret'), id: '3AUNKNOWN' }
      const sealed = { ...unknown, message: { conversation: 'x', messageContextInfo: { messageSecret } } }
      const reaction = maria.sealedReaction(sealed, '👍')
      await world.arrived(maria.text(announcements, 'the next one'))
      await world.drained()
      assert.ok(!world.helpdesk.see.messages().some(({ sourceId }) => sourceId === reaction.id))
    })

    test('a post of a channel is counted and not shown', async () => {
      world.network.newsletter(world.phone).post({ conversation: 'breaking news' })
      await counted(/service_passed_over_total\{[^}]*kind="newsletter"[^}]*\} 1\n/)
      await world.drained()
      assert.ok(!world.helpdesk.see.messages().some(({ content }) => content?.includes('breaking news')))
    })
  })
}

// Edits as newer phones send them: sealed with the secret of the message they change.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SentMessage } from '../../../sim/network/people/sent-message.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { World } from '../../harness/world.ts'

const messageSecret = Buffer.alloc(32, 7)
const secretly = (message: object) => ({ ...message, messageContextInfo: { messageSecret } })

describe('a sealed edit', () => {
  let world: World
  let maria: SimPerson
  before(async () => {
    world = await World.open()
    maria = world.network.person({ phone: '5511988887777', pushName: 'Maria' })
  })
  after(() => world[Symbol.asyncDispose]())

  /** What it became: a reply to the message it changes. */
  const replyTo = async (original: { id: string }, edit: SentMessage) => {
    const changed = await world.arrived(original)
    const message = await world.arrived(edit)
    assert.equal(message.contentAttributes['in_reply_to'], changed.id)
    return message.content
  }

  for (const addressing of ['pn', 'lid'] as const) {
    test(`by ${addressing}, twice`, async () => {
      const sent = maria.send(world.phone, secretly({ conversation: 'sealed' }), { addressing })
      assert.equal(await replyTo(sent, maria.sealedEdit(sent, 'the *new* one')), '✏️ Edited:\nthe **new** one')
      assert.equal(await replyTo(sent, maria.sealedEdit(sent, 'newer')), '✏️ Edited:\nnewer')
    })
  }

  test('of a caption', async () => {
    const picture = maria.media(world.phone, 'image', { bytes: Buffer.from('x'), caption: 'before' })
    const sent = maria.send(world.phone, secretly(picture.message))
    assert.equal(await replyTo(sent, maria.sealedEdit(sent, 'after')), '✏️ Edited:\nafter')
  })

  test('in a group, with a mention', async () => {
    const carlos = world.network.person({ phone: '5511966665555', pushName: 'Carlos' })
    const group = world.network.group('Team', maria, [carlos, world.phone])
    await world.arrived(carlos.text(group, 'here I am'))
    const sent = maria.send(group, secretly({ conversation: 'who?' }))
    const edit = maria.sealedEdit(sent, `ask @${carlos.user.lid}`, { mentions: [carlos] })
    assert.equal(await replyTo(sent, edit), '`+5511988887777 · ~Maria`\n\n✏️ Edited:\nask @Carlos')
  })

  test('by the owner, of what was written on the phone', async () => {
    const sent = world.phone.send(maria, secretly({ conversation: 'mine' }))
    assert.equal(await replyTo(sent, world.phone.sealedEdit(sent, 'still mine')), '✏️ Edited:\nstill mine')
  })

  test('that cannot be opened is announced', async () => {
    const sent = maria.text(world.phone, 'without a secret')
    const edit = maria.sealedEdit({ ...sent, message: secretly({ conversation: 'x' }) }, 'lost')
    const notice = '🔒 This refers to a message that is not known here and cannot be opened'
    assert.equal(await replyTo(sent, edit), notice)
  })
})

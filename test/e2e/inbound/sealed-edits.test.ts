// Edits as newer phones send them: sealed with the secret of the message they change.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SentMessage } from '../../../sim/network/people/sent-message.ts'
import type { SimPerson } from '../../../sim/network/people/sim-person.ts'
import { InboundStage } from '../../harness/inbound-stage.ts'

const messageSecret = Buffer.alloc(32, 7)
const secretly = (message: object) => ({ ...message, messageContextInfo: { messageSecret } })

describe('a sealed edit', () => {
  let stage: InboundStage
  let maria: SimPerson
  before(async () => {
    stage = await InboundStage.open()
    maria = stage.network.person({ phone: '5511988887777', pushName: 'Maria' })
  })
  after(() => stage[Symbol.asyncDispose]())

  /** What it became: a reply to the message it changes. */
  const replyTo = async (original: { id: string }, edit: SentMessage) => {
    const changed = await stage.arrived(original)
    const message = await stage.arrived(edit)
    assert.equal(message.contentAttributes['in_reply_to'], changed.id)
    return message.content
  }

  for (const addressing of ['pn', 'lid'] as const) {
    test(`by ${addressing}, twice`, async () => {
      const sent = maria.send(stage.phone, secretly({ conversation: 'sealed' }), { addressing })
      assert.equal(await replyTo(sent, maria.sealedEdit(sent, 'the *new* one')), '✏️ Edited:\nthe **new** one')
      assert.equal(await replyTo(sent, maria.sealedEdit(sent, 'newer')), '✏️ Edited:\nnewer')
    })
  }

  test('of a caption', async () => {
    const picture = maria.media(stage.phone, 'image', { bytes: Buffer.from('x'), caption: 'before' })
    const sent = maria.send(stage.phone, secretly(picture.message))
    assert.equal(await replyTo(sent, maria.sealedEdit(sent, 'after')), '✏️ Edited:\nafter')
  })

  test('in a group, with a mention', async () => {
    const carlos = stage.network.person({ phone: '5511966665555', pushName: 'Carlos' })
    const group = stage.network.group('Team', maria, [carlos, stage.phone])
    await stage.arrived(carlos.text(group, 'here I am'))
    const sent = maria.send(group, secretly({ conversation: 'who?' }))
    const edit = maria.sealedEdit(sent, `ask @${carlos.user.lid}`, { mentions: [carlos] })
    assert.equal(await replyTo(sent, edit), '`+5511988887777 · ~Maria`\n\n✏️ Edited:\nask @Carlos')
  })

  test('by the owner, of what was written on the phone', async () => {
    const sent = stage.phone.send(maria, secretly({ conversation: 'mine' }))
    assert.equal(await replyTo(sent, stage.phone.sealedEdit(sent, 'still mine')), '✏️ Edited:\nstill mine')
  })

  test('that cannot be opened is told of', async () => {
    const sent = maria.text(stage.phone, 'without a secret')
    const edit = maria.sealedEdit({ ...sent, message: secretly({ conversation: 'x' }) }, 'lost')
    const notice = '🔒 This refers to a message that is not known here and cannot be opened'
    assert.equal(await replyTo(sent, edit), notice)
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InboundStage } from '../harness/inbound-stage.ts'

test('a text reaches the helpdesk', async () => {
  await using stage = await InboundStage.open()
  const maria = stage.network.person({ phone: '5511988887777', pushName: 'Maria' })
  const sent = maria.text(stage.phone, 'hello *there*')
  const message = await stage.arrived(sent)
  assert.equal(message.content, 'hello **there**')
  assert.equal(message.messageType, 'incoming')
  await stage.drained()
  stage.helpdesk.assertNothingRefused()
})

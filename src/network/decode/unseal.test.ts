import assert from 'node:assert/strict'
import { createCipheriv, createHmac, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { SealedEvent } from '../../core/message.ts'
import { proto } from '../library/library.ts'
import { unseal } from './unseal.ts'

const secret = randomBytes(32)
const sender = { phone: '5511888880001', lid: null }
const jid = '5511888880001@s.whatsapp.net'

function sealed(message: proto.IMessage): SealedEvent {
  const iv = randomBytes(12)
  const first = createHmac('sha256', Buffer.alloc(32)).update(secret).digest()
  const purpose = Buffer.concat([Buffer.from(`TARGET${jid}${jid}Message Edit`), Buffer.from([1])])
  const cipher = createCipheriv('aes-256-gcm', createHmac('sha256', first).update(purpose).digest(), iv)
  const sealedBytes = [cipher.update(proto.Message.encode(message).finish()), cipher.final(), cipher.getAuthTag()]
  return {
    ...{ kind: 'sealed', purpose: 'edit', id: 'E', at: 1, sender, fromMe: false, pushName: null },
    chat: { kind: 'person', ...sender },
    target: { chat: jid, id: 'TARGET', fromMe: false, participant: null },
    payload: Buffer.concat(sealedBytes).toString('base64'),
    iv: iv.toString('base64'),
  }
}

test('a sealed edit says whom it mentions, and holds no zero character', () => {
  const edited = {
    extendedTextMessage: {
      text: 'ask\0 @5511888880002',
      contextInfo: { mentionedJid: ['5511888880002@s.whatsapp.net'] },
    },
  }
  const event = sealed({ protocolMessage: { editedMessage: edited } })
  const target = { secret: secret.toString('base64'), sender, ownJid: '', pollOptions: [] }
  assert.deepEqual(unseal(event, target), {
    type: 'edit',
    content: { type: 'text', text: 'ask @5511888880002' },
    mentions: [{ phone: '5511888880002', lid: null }],
  })
})

// Every message carries the reporting token of its sender, and the recipient's own computation agrees.

import assert from 'node:assert/strict'
import { createHmac, hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import { bytesOf, child } from '../../../sim/network/wire/stanza.ts'
import type { OutgoingContent } from '../../../src/core/network/outgoing-content.ts'
import { encodeMessage } from '../../../src/network/send/encode-message.ts'
import { reportingToken } from '../../../src/network/send/reporting-token.ts'
import { trustMediaHost } from '../../harness/media-authority.ts'
import { Bed } from '../harness/bed.ts'
import { plain } from '../harness/contents.ts'
import { fileContent, Files, picture } from '../harness/files.ts'

const secret = Buffer.alloc(32, 7)
const envelope = { id: '3EB0AA', sender: '5511999990001:3@s.whatsapp.net', chat: '5511888880001@s.whatsapp.net' }
/** The address of the sender comes without its device. */
const info = '3EB0AA5511999990001@s.whatsapp.net5511888880001@s.whatsapp.netReport Token'

function tokenOver(content: Uint8Array): Buffer {
  const key = Buffer.from(hkdfSync('sha256', secret, '', info, 32))
  return createHmac('sha256', key).update(content).digest().subarray(0, 16)
}

function made(message: Parameters<typeof reportingToken>[0]): Buffer | undefined {
  const whole = { ...message, messageContextInfo: { messageSecret: secret } }
  const [node] = reportingToken(whole, encodeMessage(whole), envelope)
  return bytesOf(child(node, 'reporting_token'))
}

test('the token covers the text and the marks of forwarding, and nothing else of a text message', () => {
  // Field 6 (text with a context): field 1 "hi", field 17 (context): field 21 = 3, field 22 = 1.
  const covered = Buffer.from('320d0a0268698a0106a80103b00101', 'hex')
  const contextInfo = { stanzaId: '3A00', forwardingScore: 3, isForwarded: true, expiration: 86_400 }
  assert.deepEqual(made({ extendedTextMessage: { text: 'hi', title: 'a title', contextInfo } }), tokenOver(covered))
})

test('the token of an edit covers the message inside the edit', () => {
  // Field 12 (protocol message): field 2 = 14 (edit), field 14: field 6: field 1 "hi".
  const covered = Buffer.from('620a100e720632040a026869', 'hex')
  const protocolMessage = { type: 14, editedMessage: { extendedTextMessage: { text: 'hi' } } }
  assert.deepEqual(made({ protocolMessage }), tokenOver(covered))
})

test('a message without a secret or without a covered field has no token', () => {
  assert.deepEqual(reportingToken({ conversation: 'hi' }, encodeMessage({ conversation: 'hi' }), envelope), [])
  assert.equal(made({ extendedTextMessage: { title: 'a title' } }), undefined)
})

for (const addressing of ['pn', 'lid'] as const) {
  test(`people and groups addressed by ${addressing} find the token of every message right`, async () => {
    await using bed = await Bed.open()
    trustMediaHost(bed.sim)
    const phone = await bed.linked('s')
    const bob = bed.sim.person({ phone: '5511888880001' })
    const team = bed.sim.group('Team', bob, [phone], addressing)
    await using files = await Files.open()
    const image = await files.write('a.jpg', await picture(8, 8))
    const paper = await files.write('a.pdf', Buffer.from('text'))
    const { session } = await bed.online('s')
    for (const chat of [bob.user.jid(addressing), team.jid]) {
      const target = { chat, id: '3EB000000000000001', fromMe: true, participant: null }
      const contents: OutgoingContent[] = [
        plain('hello'),
        { type: 'edit', target, text: 'hello again' },
        fileContent({ kind: 'image', mimeType: 'image/jpeg', fileName: 'a.jpg', path: image, caption: 'a picture' }),
        fileContent({ path: paper, caption: 'a paper' }),
        { type: 'revoke', target },
        { type: 'group_invite', groupId: team.id, subject: 'Team', code: 'x', expiresAt: Date.now(), text: 'come' },
      ]
      for (const [index, content] of contents.entries()) {
        const id = `3EB0000000000000${chat === team.jid ? 1 : 2}${index}`
        await session.send(chat, content, id)
        const { stanza } = await bob.messages.waitFor(`${content.type} ${index}`, (one) => one.id === id)
        assert.ok(child(child(stanza, 'reporting'), 'reporting_token'), `${content.type} has a token`)
      }
    }
    assert.deepEqual(bed.sim.log.violations, [])
  })
}

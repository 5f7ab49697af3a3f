// Requests a message again, and sends a message again to the one device that requested it.
import { readPreKey } from '../server/companion-device.ts'
import { bundleNodes, registrationNode } from '../server/key-answers.ts'
import { signalAddress, User, type Device } from '../server/user.ts'
import { untyped } from '../signal/curve.ts'
import type { KeyBundle } from '../signal/session.ts'
import { child, requiredBytes, stanza, type Stanza } from '../wire/stanza.ts'
import type { LocalDevice } from './local-device.ts'
import type { MessageWriter } from './message-writer.ts'
import type { SentMessage } from './sent-message.ts'

/** Builds a retry receipt with fresh keys, so that the sender opens a new session. */
export function retryRequest(device: LocalDevice, failed: Stanza, count: number): Stanza {
  const { id, from, participant, recipient, t } = failed.attrs
  const bundle = device.takeBundle()
  return stanza('receipt', { id, to: from, participant, recipient, type: 'retry' }, [
    stanza('retry', { count: String(count), id, t, v: '1' }),
    registrationNode(bundle.registrationId),
    stanza('keys', {}, bundleNodes(bundle)),
  ])
}

export function answerRetry(
  device: LocalDevice,
  writer: MessageWriter,
  receipt: Stanza,
  sent: SentMessage,
  target: Device,
): Stanza {
  const address = signalAddress(target)
  const keys = child(receipt, 'keys')
  // The new session does not replace the old one: messages on their way are encrypted with the old one.
  const bundle = keys ? readBundle(receipt, keys) : target.takeBundle()
  if (bundle) device.signal.openSession(address, bundle)
  const count = Number(child(receipt, 'retry')?.attrs.count ?? '1')
  const jid = target.user.jid(sent.addressing, target.id)
  const { id, chat } = sent
  if (chat instanceof User) {
    const own = target.user === device.user
    const copy = { deviceSentMessage: { destinationJid: chat.jid(sent.addressing), message: sent.message } }
    const sealed = writer.forDevice(target, own ? copy : sent.message, count)
    const recipient = own ? chat.jid(sent.addressing) : undefined
    return stanza('message', { id, to: jid, recipient, type: 'text' }, [sealed])
  }
  const sealed = writer.forDevice(target, writer.withSenderKey(chat.jid, sent.message), count)
  return stanza('message', { id, to: chat.jid, participant: jid, type: 'text' }, [sealed])
}

function readBundle(receipt: Stanza, keys: Stanza): KeyBundle {
  const signed = child(keys, 'skey')
  if (!signed) throw new Error('a retry request with keys but no signed prekey')
  const oneTime = child(keys, 'key')
  return {
    registrationId: requiredBytes(child(receipt, 'registration'), 'registration id').readUInt32BE(0),
    identityKey: untyped(requiredBytes(child(keys, 'identity'), 'identity key')),
    signedPreKey: readPreKey(signed),
    preKey: oneTime ? readPreKey(oneTime) : undefined,
  }
}

// Default answers about prekeys: upload, count, digest, rotation, and one-time bundles.
import type { PublishedBundle } from '../signal/signal-device.ts'
import { child, children, stanza, type Stanza } from '../wire/stanza.ts'
import type { Directory } from './directory.ts'
import type { IqTable } from './iq-router.ts'

const KEY_TYPE = Buffer.from([5])

function bigEndian(value: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  bytes.writeUIntBE(value, 0, length)
  return bytes
}

function preKeyNode(tag: string, key: { id: number; publicKey: Buffer }, signature?: Buffer): Stanza {
  const parts = [stanza('id', {}, bigEndian(key.id, 3)), stanza('value', {}, key.publicKey)]
  if (signature) parts.push(stanza('signature', {}, signature))
  return stanza(tag, {}, parts)
}

export function bundleNodes(bundle: PublishedBundle): Stanza[] {
  const parts = [
    stanza('type', {}, KEY_TYPE),
    stanza('identity', {}, bundle.identityKey),
    preKeyNode('skey', bundle.signedPreKey, bundle.signature),
  ]
  if (bundle.preKey) parts.push(preKeyNode('key', bundle.preKey))
  return parts
}

export function registrationNode(registrationId: number): Stanza {
  return stanza('registration', {}, bigEndian(registrationId, 4))
}

export function keyAnswers(directory: Directory): IqTable {
  const userBundle = (jid: string): Stanza => {
    const device = directory.device(jid)
    const bundle = device?.user.hasNoKeys ? undefined : device?.takeBundle()
    if (!bundle) return stanza('user', { jid }, [stanza('error', { code: '404', text: 'item-not-found' })])
    return stanza('user', { jid }, [registrationNode(bundle.registrationId), ...bundleNodes(bundle)])
  }
  return {
    'encrypt get count': ({ device }) => [stanza('count', { value: String(device.keys.preKeys.length) })],
    'encrypt get digest': ({ device }) => [
      stanza('digest', {}, [
        registrationNode(device.keys.registrationId),
        stanza('identity', {}, device.keys.identityKey),
      ]),
    ],
    'encrypt set registration': ({ device, iq }) => {
      device.learnKeys(iq)
      return []
    },
    'encrypt set rotate': ({ device, content }) => {
      device.rotateSignedPreKey(child(content, 'skey'))
      return []
    },
    'encrypt get key': ({ content }) => {
      const users = children(content, 'user').flatMap(({ attrs }) => (attrs['jid'] ? [userBundle(attrs['jid'])] : []))
      return [stanza('list', {}, users)]
    },
  }
}

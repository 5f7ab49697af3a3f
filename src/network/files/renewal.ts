// Asks the phone to upload a file again and reads the file's new address.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Jid, NetworkMessageId } from '../../core/ids.ts'
import type { FileRef, MessageKey } from '../../core/message.ts'
import { FileError } from '../../core/network.ts'
import type { Clock } from '../../lib/clock.ts'
import { proto } from '../library/library.ts'
import { childOf } from '../library/nodes.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'
import { sendAndWait } from '../queries/send-and-wait.ts'

type Deps = { socket: WASocket; clock: Clock; ownJid: Jid; gone: AbortSignal }

const purpose = 'WhatsApp Media Retry Notification'
const event = 'CB:notification,type:mediaretry'
const answerMs = 20_000
const tagLength = 16

export async function renewFile(message: MessageKey, file: FileRef, deps: Deps): Promise<FileRef> {
  const { id } = message
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(file.mediaKey, 'base64'), Buffer.alloc(0), purpose, 32))
  const stanza = renewalRequest(message, key, deps.ownJid)
  const isAnswer = ({ attrs }: BinaryNode) => attrs['id'] === id
  const late = () => new FileError(true, 'the phone did not answer; is it connected to the internet?')
  const node = await sendAndWait({ stanza, event, isAnswer, ms: answerMs, late }, deps)
  return renewedFile(node, id, key, file)
}

function renewalRequest({ id, chat, fromMe, participant }: MessageKey, key: Buffer, ownJid: Jid): BinaryNode {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(id))
  const plain = proto.ServerErrorReceipt.encode({ stanzaId: id }).finish()
  const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  const about = { jid: chat, from_me: String(fromMe), ...(participant === null ? {} : { participant }) }
  return {
    tag: 'receipt',
    attrs: { id, to: ownJid, type: 'server-error' },
    content: [
      {
        tag: 'encrypt',
        attrs: {},
        content: [
          { tag: 'enc_p', attrs: {}, content: sealed },
          { tag: 'enc_iv', attrs: {}, content: iv },
        ],
      },
      { tag: 'rmr', attrs: about },
    ],
  }
}

function renewedFile(node: BinaryNode, id: NetworkMessageId, key: Buffer, file: FileRef): FileRef {
  const sealed = childOf(node, 'encrypt')
  const [payload, iv] = ['enc_p', 'enc_iv'].map((tag) => sealed && bytesIn(sealed, tag))
  if (!payload || !iv || payload.length < tagLength)
    throw new FileError(true, 'the phone does not have the file either')
  const { result, directPath } = open(payload, iv, id, key)
  if (result !== proto.MediaRetryNotification.ResultType.SUCCESS || !directPath) {
    throw new FileError(true, 'the phone could not upload the file again')
  }
  const host = file.url === null ? undefined : URL.parse(file.url)?.host
  return { ...file, directPath, url: host === undefined ? null : `https://${host}${directPath}` }
}

function open(payload: Buffer, iv: Buffer, id: NetworkMessageId, key: Buffer): proto.IMediaRetryNotification {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(id))
    decipher.setAuthTag(payload.subarray(-tagLength))
    const plain = Buffer.concat([decipher.update(payload.subarray(0, -tagLength)), decipher.final()])
    return proto.MediaRetryNotification.decode(plain)
  } catch (cause) {
    throw new FileError(true, 'the answer of the phone cannot be read', { cause })
  }
}

function bytesIn(node: BinaryNode, tag: string): Buffer | undefined {
  const content = childOf(node, tag)?.content
  return content instanceof Uint8Array ? Buffer.from(content) : undefined
}

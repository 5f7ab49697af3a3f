// Asks the phone to put a file on the network's hosts again, and reads where it is then.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { FileRef, MessageKey } from '../../core/message.ts'
import { FileError } from '../../core/network.ts'
import { withDeadline } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { childrenOf, proto } from '../library/library.ts'
import type { BinaryNode, WASocket } from '../library/library.ts'

type Deps = { socket: WASocket; clock: Clock; ownJid: string; gone: AbortSignal }

const purpose = 'WhatsApp Media Retry Notification'
const event = 'CB:notification,type:mediaretry'
const answerMs = 20_000
const tagLength = 16

export async function renewFile(message: MessageKey, file: FileRef, deps: Deps): Promise<FileRef> {
  const { socket, clock, gone } = deps
  gone.throwIfAborted()
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(file.mediaKey, 'base64'), Buffer.alloc(0), purpose, 32))
  const answer = Promise.withResolvers<BinaryNode>()
  const listen = (node: BinaryNode) => {
    if (node.attrs['id'] === message.id) answer.resolve(node)
  }
  const giveUp = () => {
    answer.reject(new Error('the connection has ended'))
  }
  socket.ws.on(event, listen)
  gone.addEventListener('abort', giveUp, { once: true })
  try {
    const sent = socket.sendNode(renewalRequest(message, key, deps.ownJid))
    const late = () => new FileError(true, 'the phone did not answer; is it connected to the internet?')
    const [node] = await withDeadline(clock, answerMs, Promise.all([answer.promise, sent]), late)
    return renewed(node, message.id, key, file)
  } finally {
    socket.ws.off(event, listen)
    gone.removeEventListener('abort', giveUp)
  }
}

function renewalRequest({ id, chat, fromMe, participant }: MessageKey, key: Buffer, ownJid: string): BinaryNode {
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

function renewed(node: BinaryNode, id: string, key: Buffer, file: FileRef): FileRef {
  const sealed = childrenOf(node).find(({ tag }) => tag === 'encrypt')
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

function open(payload: Buffer, iv: Buffer, id: string, key: Buffer): proto.IMediaRetryNotification {
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
  const content = childrenOf(node).find((one) => one.tag === tag)?.content
  return content instanceof Uint8Array ? Buffer.from(content) : undefined
}

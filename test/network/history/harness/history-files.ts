// Writes histories as a phone does: encoded, packed, and sealed for the media host.

import { createCipheriv, createHash, createHmac, randomBytes } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import type { SimNetwork } from '../../../../sim/network/sim-network.ts'
import { mediaKeysOf } from '../../../../src/network/files/media-keys.ts'
import { proto } from '../../../../src/network/library/library.ts'

const { Type } = proto.Message.ProtocolMessage
/** The protocol declares the kinds of history twice: one enum for notifications, one for the history itself. */
const Named = proto.Message.HistorySyncType
const Inside = proto.HistorySync.HistorySyncType
export const Kind = {
  INITIAL_BOOTSTRAP: 'INITIAL_BOOTSTRAP',
  RECENT: 'RECENT',
  FULL: 'FULL',
  ON_DEMAND: 'ON_DEMAND',
} as const
type KindName = keyof typeof Kind

type Notification = proto.Message.IHistorySyncNotification
type Sync = Omit<proto.IHistorySync, 'syncType'>

/** A message of a chat, as the phone keeps it. `at` is in Unix seconds. */
export function kept(
  chat: string,
  id: string,
  at: number,
  more: Partial<proto.IWebMessageInfo> & { fromMe?: boolean; text?: string; by?: string } = {},
): proto.IHistorySyncMsg {
  const { fromMe = false, text = `text of ${id}`, by, ...info } = more
  const key = { remoteJid: chat, id, fromMe, ...(by !== undefined && { participant: by }) }
  return { message: { key, messageTimestamp: at, message: { conversation: text }, ...info } }
}

export function encodeHistory(kind: KindName, sync: Sync): Buffer {
  return Buffer.from(proto.HistorySync.encode({ ...sync, syncType: Inside[kind] }).finish())
}

/** The notification with the history inside it. */
export function inlineHistory(kind: KindName, sync: Sync, note: Notification = {}): proto.IMessage {
  const initialHistBootstrapInlinePayload = deflateSync(encodeHistory(kind, sync))
  return notification({
    syncType: Named[kind],
    progress: 100,
    chunkOrder: 1,
    initialHistBootstrapInlinePayload,
    ...note,
  })
}

/** The notification whose history is a file of the media host. */
export function filedHistory(
  { media }: Pick<SimNetwork, 'media'>,
  kind: KindName,
  sync: Sync | Buffer,
  note: Notification = {},
): { message: proto.IMessage; directPath: string } {
  const packed = Buffer.isBuffer(sync) ? sync : deflateSync(encodeHistory(kind, sync))
  const { sealed, file } = sealHistory(packed)
  const { directPath } = media.put(sealed)
  const message = notification({ syncType: Named[kind], progress: 100, chunkOrder: 1, ...file, directPath, ...note })
  return { message, directPath }
}

export function sealHistory(packed: Buffer): { sealed: Buffer; file: Notification } {
  const mediaKey = randomBytes(32)
  const { iv, cipherKey, macKey } = mediaKeysOf(mediaKey, 'history')
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv)
  const encrypted = Buffer.concat([cipher.update(packed), cipher.final()])
  const mac = createHmac('sha256', macKey).update(iv).update(encrypted).digest().subarray(0, 10)
  const sealed = Buffer.concat([encrypted, mac])
  const file = { mediaKey, fileSha256: hashOf(packed), fileEncSha256: hashOf(sealed), fileLength: packed.length }
  return { sealed, file }
}

function hashOf(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}

function notification(historySyncNotification: Notification): proto.IMessage {
  return { protocolMessage: { type: Type.HISTORY_SYNC_NOTIFICATION, historySyncNotification } }
}

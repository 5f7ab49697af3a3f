// Writes the notification that the library gets in place of the one that the phone sent.
//
// The library would download the whole history and decode it in memory, always from the host of WhatsApp. The
// notification for the library holds the history itself, without its messages. So the library never downloads a history.

import { deflateSync } from 'node:zlib'
import { proto } from '../library/library.ts'
import { encodeVarint } from '../library/wire-fields.ts'
import type { SlimHistory } from './slim-history.ts'

type Notification = proto.Message.IHistorySyncNotification

/** The keys of the numbers HistorySync.syncType and HistorySync.progress. */
const syncTypeKey = 0x08
const progressKey = 0x30

export function notificationOf(info: proto.IWebMessageInfo): Notification | undefined {
  return info.message?.protocolMessage?.historySyncNotification ?? undefined
}

export function slimNotification(info: proto.IWebMessageInfo, slim: Pick<SlimHistory, 'bytes'>): proto.IWebMessageInfo {
  const { syncType, chunkOrder, progress, peerDataRequestSessionId } = notificationOf(info) ?? {}
  const historySyncNotification: Notification = {
    syncType: syncType ?? null,
    chunkOrder: chunkOrder ?? null,
    progress: progress ?? null,
    peerDataRequestSessionId: peerDataRequestSessionId ?? null,
    initialHistBootstrapInlinePayload: deflateSync(slim.bytes()),
  }
  const type = proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION
  return { ...info, message: { protocolMessage: { type, historySyncNotification } } }
}

/** For a history that is not read yet, or never will be. */
export function emptyNotification(info: proto.IWebMessageInfo): proto.IWebMessageInfo {
  const { syncType, progress } = notificationOf(info) ?? {}
  const fields = [
    [syncTypeKey, syncType ?? 0],
    [progressKey, progress ?? 0],
  ] as const
  const bytes = Buffer.concat(fields.flatMap(([key, number]) => [Buffer.of(key), encodeVarint(number)]))
  return slimNotification(info, { bytes: () => bytes })
}

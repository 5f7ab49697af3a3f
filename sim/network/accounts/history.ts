// Messages from the phone to its companions: app-state keys, pieces of history, and messages that a companion misses.
import { proto } from '../library.ts'
import type { User } from '../server/user.ts'
import { writeFields } from '../signal/protobuf.ts'
import type { AppStateKey } from './app-state-cipher.ts'

const { Type } = proto.Message.ProtocolMessage
/** The protocol declares the kinds of history twice: one enum for messages, one for the history itself. */
const Named = proto.Message.HistorySyncType
const Inside = proto.HistorySync.HistorySyncType
const KINDS = {
  bootstrap: { named: Named.INITIAL_BOOTSTRAP, inside: Inside.INITIAL_BOOTSTRAP },
  status: { named: Named.INITIAL_STATUS_V3, inside: Inside.INITIAL_STATUS_V3 },
  pushNames: { named: Named.PUSH_NAME, inside: Inside.PUSH_NAME },
  recent: { named: Named.RECENT, inside: Inside.RECENT },
  full: { named: Named.FULL, inside: Inside.FULL },
  nonBlocking: { named: Named.NON_BLOCKING_DATA, inside: Inside.NON_BLOCKING_DATA },
  onDemand: { named: Named.ON_DEMAND, inside: Inside.ON_DEMAND },
} as const
export type HistoryKind = keyof typeof KINDS
export type HistoryChunk = {
  kind: HistoryKind
  /** A function, so that a large history need not be in memory at once. It must return the same each time. */
  conversations?: () => proto.IConversation[]
  /** The people whose push names and pairs of addresses the chunk names. */
  people?: User[]
  chunkOrder: number
  progress: number
  nctSalt?: Buffer | undefined
  /** When the oldest message of the chunk was sent, in unix seconds. */
  oldestAt?: number | undefined
  /** The id of the request that this chunk answers. */
  requestId?: string
}
/** The history itself in the message, or the description of a file on the media host. */
export type HistoryCarrier = Pick<
  proto.Message.IHistorySyncNotification,
  'initialHistBootstrapInlinePayload' | 'directPath' | 'mediaKey' | 'fileSha256' | 'fileEncSha256' | 'fileLength'
>

export function keyShare({ id, data }: AppStateKey, timestamp: number): proto.IMessage {
  const fingerprint = { rawId: 1, currentIndex: 1, deviceIndexes: [0] }
  const keys = [{ keyId: { keyId: id }, keyData: { keyData: data, fingerprint, timestamp } }]
  return { protocolMessage: { type: Type.APP_STATE_SYNC_KEY_SHARE, appStateSyncKeyShare: { keys } } }
}

/** The bytes of a history, not yet compressed. */
export function encodeHistory({
  kind,
  conversations,
  people = [],
  chunkOrder,
  progress,
  nctSalt,
}: HistoryChunk): Buffer {
  const sync = proto.HistorySync.encode({
    syncType: KINDS[kind].inside,
    conversations: conversations?.() ?? [],
    chunkOrder,
    progress,
    pushnames: people.map((user) => ({ id: user.pnJid, pushname: user.pushName })),
    phoneNumberToLidMappings: people.map((user) => ({ pnJid: user.pnJid, lidJid: user.lidJid })),
    statusV3Messages: [],
  }).finish()
  // The salt is a field that the schema of the library does not have.
  return Buffer.concat(nctSalt ? [sync, writeFields([[19, nctSalt]])] : [sync])
}

export function historyNotice(chunk: HistoryChunk, carrier: HistoryCarrier): proto.IMessage {
  const { kind, chunkOrder, progress, requestId, oldestAt } = chunk
  const answered = requestId === undefined ? {} : { peerDataRequestSessionId: requestId }
  const dated = oldestAt === undefined ? {} : { oldestMsgInChunkTimestampSec: oldestAt }
  const about = { syncType: KINDS[kind].named, chunkOrder, progress, ...dated, ...answered }
  const historySyncNotification = { ...about, ...carrier }
  return { protocolMessage: { type: Type.HISTORY_SYNC_NOTIFICATION, historySyncNotification } }
}

export function resendAnswer(requestId: string, found: proto.IWebMessageInfo[]): proto.IMessage {
  const peerDataOperationResult = found.map((message) => ({
    placeholderMessageResendResponse: { webMessageInfoBytes: proto.WebMessageInfo.encode(message).finish() },
  }))
  return {
    protocolMessage: {
      type: Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
      peerDataOperationRequestResponseMessage: {
        peerDataOperationRequestType: proto.Message.PeerDataOperationRequestType.PLACEHOLDER_MESSAGE_RESEND,
        stanzaId: requestId,
        peerDataOperationResult,
      },
    },
  }
}

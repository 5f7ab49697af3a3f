// Messages from the phone to its companions: app-state keys, history, and answers to the companions' requests.
import { deflateSync } from 'node:zlib'
import { proto } from '../library.ts'
import type { User } from '../server/user.ts'
import { writeFields } from '../signal/protobuf.ts'
import type { AppStateKey } from './app-state-cipher.ts'

const { Type } = proto.Message.ProtocolMessage
/** The protocol declares the kinds of history twice: one enum for messages, one for the history itself. */
const Named = proto.Message.HistorySyncType
const Inside = proto.HistorySync.HistorySyncType
const SYNC_TYPES = {
  bootstrap: { named: Named.INITIAL_BOOTSTRAP, inside: Inside.INITIAL_BOOTSTRAP },
  pushNames: { named: Named.PUSH_NAME, inside: Inside.PUSH_NAME },
  recent: { named: Named.RECENT, inside: Inside.RECENT },
  onDemand: { named: Named.ON_DEMAND, inside: Inside.ON_DEMAND },
} as const
type Chunk = {
  syncType: keyof typeof SYNC_TYPES
  conversations?: proto.IConversation[]
  people?: User[]
  chunkOrder: number
  progress: number
  nctSalt?: Buffer | undefined
  /** The id of the request that this chunk answers. */
  requestId?: string
}

export function keyShare({ id, data }: AppStateKey, timestamp: number): proto.IMessage {
  const fingerprint = { rawId: 1, currentIndex: 1, deviceIndexes: [0] }
  const keys = [{ keyId: { keyId: id }, keyData: { keyData: data, fingerprint, timestamp } }]
  return { protocolMessage: { type: Type.APP_STATE_SYNC_KEY_SHARE, appStateSyncKeyShare: { keys } } }
}

/**
 * One chunk of history, carried inside the message. Real phones put larger chunks on the media host, but the client
 * library fetches those only from the real host.
 */
export function historyChunk(chunk: Chunk): proto.IMessage {
  const { syncType, conversations = [], people = [], chunkOrder, progress, nctSalt, requestId } = chunk
  const sync = proto.HistorySync.encode({
    syncType: SYNC_TYPES[syncType].inside,
    conversations,
    chunkOrder,
    progress,
    pushnames: people.map((user) => ({ id: user.pnJid, pushname: user.pushName })),
    phoneNumberToLidMappings: people.map((user) => ({ pnJid: user.pnJid, lidJid: user.lidJid })),
    statusV3Messages: [],
  }).finish()
  const historySyncNotification = {
    syncType: SYNC_TYPES[syncType].named,
    initialHistBootstrapInlinePayload: deflateSync(nctSalt ? Buffer.concat([sync, saltField(nctSalt)]) : sync),
    chunkOrder,
    progress,
    ...(requestId === undefined ? {} : { peerDataRequestSessionId: requestId }),
  }
  return { protocolMessage: { type: Type.HISTORY_SYNC_NOTIFICATION, historySyncNotification } }
}

/** A field that the schema of the library does not have. */
function saltField(salt: Buffer): Buffer {
  return writeFields([[19, salt]])
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

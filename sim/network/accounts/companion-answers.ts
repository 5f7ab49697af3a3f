// Answers the requests of a companion to its phone: older history, and messages of which it only has a placeholder.
import type { proto } from '../library.ts'
import { unwrap } from '../people/received-message.ts'
import type { ChatArchive } from './chat-archive.ts'
import { historyChunk, resendAnswer } from './history.ts'

const DEFAULT_COUNT = 50

export function companionAnswers(archive: ChatArchive, requestId: string, message: proto.IMessage): proto.IMessage[] {
  const request = unwrap(message).protocolMessage?.peerDataOperationRequestMessage
  if (!request) return []
  const answers: proto.IMessage[] = []
  const older = request.historySyncOnDemandRequest
  if (older) {
    const { chatJid, oldestMsgId, onDemandMsgCount } = older
    const conversations = archive.before(chatJid ?? '', oldestMsgId ?? '', onDemandMsgCount ?? DEFAULT_COUNT)
    answers.push(historyChunk({ syncType: 'onDemand', conversations, chunkOrder: 0, progress: 100, requestId }))
  }
  const missing = (request.placeholderMessageResendRequest ?? []).map((one) => one.messageKey?.id)
  if (missing.length > 0) {
    const found = missing.flatMap((id) => (id ? [archive.find(id)] : [])).filter((one) => one !== undefined)
    answers.push(resendAnswer(requestId, found))
  }
  return answers
}

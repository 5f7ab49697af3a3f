// Answers the requests of a companion to its phone: older history, and messages of which it only has a placeholder.
import type { proto } from '../library.ts'
import { unwrap } from '../people/received-message.ts'
import type { ChatArchive } from './chat-archive.ts'
import { resendAnswer } from './history.ts'
import type { PhoneHistory } from './phone-history.ts'

const DEFAULT_COUNT = 50

type Keeper = { archive: ChatArchive; history: PhoneHistory }

export function companionAnswers(phone: Keeper, requestId: string, message: proto.IMessage): proto.IMessage[] {
  const request = unwrap(message).protocolMessage?.peerDataOperationRequestMessage
  if (!request) return []
  const answers: proto.IMessage[] = []
  const older = request.historySyncOnDemandRequest
  if (older) {
    const { chatJid, oldestMsgId, onDemandMsgCount } = older
    const count = onDemandMsgCount ?? DEFAULT_COUNT
    const answer = phone.history.older({ chatJid: chatJid ?? '', oldestMsgId: oldestMsgId ?? '', count, requestId })
    if (answer) answers.push(answer)
  }
  const missing = (request.placeholderMessageResendRequest ?? []).map((one) => one.messageKey?.id)
  if (missing.length > 0) {
    const found = missing.flatMap((id) => (id ? [phone.archive.find(id)] : [])).filter((one) => one !== undefined)
    answers.push(resendAnswer(requestId, found))
  }
  return answers
}

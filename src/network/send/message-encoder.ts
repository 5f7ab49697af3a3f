// Encodes each message once and uploads its file once, so that a repeat under the same id has the same content.

import type { Jid, NetworkMessageId } from '../../core/ids.ts'
import type { OutgoingContent } from '../../core/network/outgoing-content.ts'
import type { Clock } from '../../lib/clock.ts'
import { drawRandomBytes } from '../../lib/random/random-bytes.ts'
import type { Account } from '../account/account.ts'
import { encodeContent, isTimed } from './encode-content.ts'
import { encodeFile } from './encode-file.ts'
import type { proto, WASocket } from '../library/library.ts'
import type { MediaUpload } from '../files/upload.ts'
import type { OutgoingTimers } from './outgoing-timers.ts'
import { ownIdentity } from './own-identity.ts'

type Deps = {
  socket: WASocket
  account: Account
  upload: MediaUpload
  timers: Pick<OutgoingTimers, 'of'>
  clock: Clock
  gone: AbortSignal
  /** The content that the service sent under this id, from its own records. */
  findSent: (id: NetworkMessageId) => Promise<OutgoingContent | null>
}

export class MessageEncoder {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async encode(chat: Jid, content: OutgoingContent, id: NetworkMessageId, isFirst = false): Promise<proto.IMessage> {
    const { sent } = this.#deps.account
    const message = sent.get(id) ?? (await this.#encode(chat, content, isFirst))
    sent.set(id, message)
    return message
  }

  /** The message that a recipient could not open. Undefined when the service did not send it. */
  async sentMessage(chat: Jid, id: NetworkMessageId): Promise<proto.IMessage | undefined> {
    const { account, findSent } = this.#deps
    const remembered = account.sent.get(id)
    if (remembered) return remembered
    const content = await findSent(id)
    return content ? this.encode(chat, content, id) : undefined
  }

  async #encode(chat: Jid, content: OutgoingContent, isFirst: boolean): Promise<proto.IMessage> {
    const { upload, timers, clock, gone, socket } = this.#deps
    const timer = isTimed(content) ? await timers.of(chat, isFirst) : undefined
    const context = { chat, ownJid: ownIdentity(socket).jidFor(chat), now: clock.now(), timer }
    const message =
      content.type === 'file' ? await encodeFile(content, context, { upload, gone }) : encodeContent(content, context)
    if (content.type === 'reaction') return message
    return { ...message, messageContextInfo: { messageSecret: drawRandomBytes(32) } }
  }
}

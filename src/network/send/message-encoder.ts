// Encodes each message once, its file uploaded once: a repeat under the same id, and a resend, say the same.

import { randomBytes } from 'node:crypto'
import type { Agent } from 'node:https'
import type { OutgoingContent } from '../../core/network.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Account } from '../account/account.ts'
import { encodeContent } from './encode-content.ts'
import { encodeFile } from './encode-file.ts'
import type { proto, WASocket } from '../library/library.ts'
import { MediaHosts } from '../files/media-hosts.ts'
import { MediaUpload } from '../files/upload.ts'
import { ownIdentity } from './own-identity.ts'
import type { Ask } from '../queries/user-sync.ts'

type Deps = {
  socket: WASocket
  account: Account
  clock: Clock
  gone: AbortSignal
  ask: Ask
  /** The way to the media hosts, when it is not the direct one. */
  agent: Agent | undefined
  /** What was sent under this id, by the service's own books. */
  findSent: (id: string) => Promise<OutgoingContent | null>
}

export class MessageEncoder {
  readonly #deps: Deps
  readonly #upload: MediaUpload

  constructor(deps: Deps) {
    this.#deps = deps
    this.#upload = new MediaUpload({ ...deps, hosts: new MediaHosts(deps.ask, deps.clock) })
  }

  async encode(chat: string, content: OutgoingContent, id: string): Promise<proto.IMessage> {
    const { sent } = this.#deps.account
    const message = sent.get(id) ?? (await this.#encode(chat, content))
    sent.set(id, message)
    return message
  }

  /** What somebody says he could not open. */
  async sentMessage(chat: string, id: string): Promise<proto.IMessage | undefined> {
    const { account, findSent } = this.#deps
    const remembered = account.sent.get(id)
    if (remembered) return remembered
    const content = await findSent(id)
    return content ? this.encode(chat, content, id) : undefined
  }

  async #encode(chat: string, content: OutgoingContent): Promise<proto.IMessage> {
    const { clock, gone, socket } = this.#deps
    const context = { chat, ownJid: ownIdentity(socket).jidFor(chat), now: clock.now() }
    const upload = this.#upload
    const message =
      content.type === 'file' ? await encodeFile(content, context, { upload, gone }) : encodeContent(content, context)
    if (content.type === 'reaction') return message
    return { ...message, messageContextInfo: { messageSecret: randomBytes(32) } }
  }
}

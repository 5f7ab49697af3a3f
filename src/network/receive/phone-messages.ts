// Messages that only the library can act on: keys of the app state, history, answers of the phone, pairs of addresses.
//
// They are stored like everything that arrives and handed to the library from there, again at the next connection if it did
// not get to the end of it.

import type { Log } from '../../lib/log.ts'
import type { JournalStore, UnfinishedStanza } from '../../storage/stores/messages/journal-store.ts'
import type { Account } from '../account/account.ts'
import { cleanId } from '../decode/clean.ts'
import type { Origin } from '../decode/origin.ts'
import { unwrap } from '../decode/unwrap.ts'
import { jidNormalizedUser, proto } from '../library/library.ts'
import type { WASocket } from '../library/library.ts'

type Deps = { socket: WASocket; account: Account; store: JournalStore; gone: AbortSignal; log: Log }

const { Type } = proto.Message.ProtocolMessage
const types = new Set([
  Type.HISTORY_SYNC_NOTIFICATION,
  Type.APP_STATE_SYNC_KEY_SHARE,
  Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
  Type.LID_MIGRATION_MAPPING_SYNC,
])

/** Only the owner's phone may say such things. */
export function phoneMessageOf(message: proto.IMessage, { envelope, chatJid }: Origin): UnfinishedStanza | undefined {
  const content = unwrap(message).message
  const type = content.protocolMessage?.type
  if (type == null || !types.has(type) || !envelope.fromMe) return undefined
  const { id, at, pushName } = envelope
  const key = { remoteJid: chatJid, id, fromMe: true }
  const info = { key, message: content, messageTimestamp: Math.trunc(at / 1000), pushName }
  return { stanzaId: cleanId(id), stanza: proto.WebMessageInfo.encode(info).finish() }
}

export class PhoneMessages {
  readonly #deps: Deps
  readonly #queued = new Set<string>()
  #line: Promise<unknown> = Promise.resolve()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  act({ stanzaId, stanza }: UnfinishedStanza): void {
    if (this.#queued.has(stanzaId)) return
    this.#queued.add(stanzaId)
    this.#line = this.#line.then(() => this.#finish(stanzaId, stanza))
  }

  /** Takes up what the connections before did not finish. */
  async resume(): Promise<void> {
    const { account, store } = this.#deps
    const left = await account.keys.waitOut(() => store.loadUnfinished(account.sessionId))
    for (const one of left) this.act(one)
  }

  async #finish(stanzaId: string, stanza: Uint8Array): Promise<void> {
    const { account, store, gone, log } = this.#deps
    try {
      gone.throwIfAborted()
      await this.#hand(proto.WebMessageInfo.decode(stanza))
      // A connection that ended meanwhile may have swallowed some of it.
      gone.throwIfAborted()
      // Behind everything the library has written for it.
      const finished = store.finished(account.sessionId, stanzaId)
      await account.keys.store({ statements: [finished], onSaved: () => this.#queued.delete(stanzaId) })
    } catch (err) {
      log.warn(
        { session: account.sessionId, err },
        'message of the phone not acted on, tried again when connected anew',
      )
    }
  }

  async #hand(info: proto.WebMessageInfo): Promise<void> {
    const { socket } = this.#deps
    const { remoteJid, id } = info.key ?? {}
    if (info.message?.protocolMessage?.historySyncNotification && id) {
      await socket.sendReceipt(jidNormalizedUser(remoteJid ?? ''), undefined, [id], 'hist_sync')
    }
    await socket.upsertMessage(info as Parameters<WASocket['upsertMessage']>[0], 'append')
  }
}

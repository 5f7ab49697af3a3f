// Hands messages from the owner's phone to the library: keys of the app state, history, answers, pairs of addresses.
//
// Only the library can act on them. The journal stores them first. If the connection ends before the library has finished,
// the next connection hands them over again.

import { Lane } from '../../lib/queues/lane.ts'
import type { Log } from '../../lib/log.ts'
import type { JournalStore, UnfinishedStanza } from '../../storage/stores/messages/journal-store.ts'
import type { Account } from '../account/account.ts'
import { cleanId } from '../decode/clean.ts'
import { unpackMapping } from '../decode/lid-mapping.ts'
import type { Origin } from '../decode/origin.ts'
import { unwrap } from '../decode/unwrap.ts'
import { jidNormalizedUser, proto } from '../library/library.ts'
import type { WASocket } from '../library/library.ts'

type Deps = {
  socket: WASocket
  account: Account
  store: JournalStore
  /** Reads a history and hands the library what it needs of it. */
  histories: { read(info: proto.IWebMessageInfo, hand: Hand): Promise<void> }
  gone: AbortSignal
  log: Log
}

type Hand = (info: proto.IWebMessageInfo) => Promise<void>

const { Type } = proto.Message.ProtocolMessage
const phoneTypes = new Set([
  Type.HISTORY_SYNC_NOTIFICATION,
  Type.APP_STATE_SYNC_KEY_SHARE,
  Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
  Type.LID_MIGRATION_MAPPING_SYNC,
])

/** Undefined for all other messages, and for messages of these types that do not come from the owner. */
export function phoneMessageOf(message: proto.IMessage, { envelope, chatJid }: Origin): UnfinishedStanza | undefined {
  const content = unwrap(message).message
  const type = content.protocolMessage?.type
  if (type == null || !phoneTypes.has(type) || !envelope.fromMe) return undefined
  const { id, at, pushName } = envelope
  const key = { remoteJid: chatJid, id, fromMe: true }
  const info = { key, message: content, messageTimestamp: Math.trunc(at / 1000), pushName }
  return { stanzaId: cleanId(id), stanza: proto.WebMessageInfo.encode(info).finish() }
}

export class PhoneMessages {
  readonly #deps: Deps
  readonly #waiting = new Set<string>()
  readonly #lane = new Lane()
  /** Reading a history can take minutes. Other messages, such as keys, do not wait for it. */
  readonly #historyLane = new Lane()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Hands the message to the library after the earlier ones. */
  handle({ stanzaId, stanza }: UnfinishedStanza): void {
    if (this.#waiting.has(stanzaId)) return
    this.#waiting.add(stanzaId)
    const info = proto.WebMessageInfo.decode(stanza)
    const isHistory = info.message?.protocolMessage?.historySyncNotification != null
    if (isHistory) void this.#historyLane.run(() => this.#finish(stanzaId, () => this.#readHistory(info)))
    else void this.#lane.run(() => this.#finish(stanzaId, () => this.#handToLibrary(info)))
  }

  /** Hands over the messages that earlier connections did not finish. */
  async resume(): Promise<void> {
    const { account, store } = this.#deps
    const unfinished = await account.keys.askStorage(() => store.loadUnfinished(account.sessionId))
    for (const message of unfinished) this.handle(message)
  }

  async #finish(stanzaId: string, act: () => Promise<void>): Promise<void> {
    const { account, store, gone, log } = this.#deps
    try {
      gone.throwIfAborted()
      await act()
      // If the connection ended meanwhile, the library may not have finished.
      gone.throwIfAborted()
      // This write comes after everything that the library has written for the message.
      const finished = store.finished(account.sessionId, stanzaId)
      await account.keys.store({ statements: [finished], onSaved: () => this.#waiting.delete(stanzaId) })
    } catch (err) {
      log.warn(
        { session: account.sessionId, err },
        'message of the phone not acted on, tried again when connected anew',
      )
    }
  }

  async #readHistory(info: proto.IWebMessageInfo): Promise<void> {
    const { socket, histories } = this.#deps
    const { remoteJid, id } = info.key ?? {}
    if (id) await socket.sendReceipt(jidNormalizedUser(remoteJid ?? ''), undefined, [id], 'hist_sync')
    await histories.read(info, (slim) => this.#lane.run(() => this.#handToLibrary(slim)))
  }

  async #handToLibrary(info: proto.IWebMessageInfo): Promise<void> {
    const { socket, account } = this.#deps
    const migration = info.message?.protocolMessage?.lidMigrationMappingSyncMessage
    if (migration) {
      unpackMapping(migration)
      await account.addressing.told(true)
    }
    await socket.upsertMessage(info as Parameters<WASocket['upsertMessage']>[0], 'append')
  }
}

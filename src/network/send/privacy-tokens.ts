// Sends and issues privacy tokens, which show the network that two people trust each other.
//
// A message carries the token that its recipient gave us. From time to time we issue a new token of ours to the recipient.

import type { Jid } from '../../core/ids.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import {
  buildMergedTcTokenIndexWrite,
  isTcTokenExpired,
  jidNormalizedUser,
  resolveIssuanceJid,
  shouldSendNewTcToken,
  storeTcTokensFromIqResult,
} from '../library/library.ts'
import type { BinaryNode, SignalDataTypeMap, SignalKeyStoreWithTransaction, WASocket } from '../library/library.ts'

type Token = SignalDataTypeMap['tctoken'] | undefined

export class PrivacyTokens {
  readonly #socket: WASocket
  readonly #underWay = new Set<Jid>()

  constructor(socket: WASocket) {
    this.#socket = socket
  }

  /** The nodes for a message to this person. `written` is to be called when the message has left. */
  async forMessageTo(chat: Jid): Promise<{ nodes: BinaryNode[]; written: () => void }> {
    const owner = await this.#ownerOf(chat)
    const token: Token = (await this.#keys.get('tctoken', [owner]))[owner]
    const isGood =
      this.#socket.serverProps.privacyTokenOn1to1 && token?.token.length && !isTcTokenExpired(token.timestamp)
    const nodes = isGood ? [{ tag: 'tctoken', attrs: {}, content: token.token }] : []
    const written = () => {
      if (shouldSendNewTcToken(token?.senderTimestamp)) this.#issue(chat, owner)
    }
    return { nodes, written }
  }

  /** Runs in the background. If it fails, the next message tries again. */
  #issue(chat: Jid, owner: Jid): void {
    if (this.#underWay.has(owner)) return
    this.#underWay.add(owner)
    this.#give(chat, owner)
      .catch(ignoreRejection)
      .finally(() => this.#underWay.delete(owner))
  }

  async #give(chat: Jid, owner: Jid): Promise<void> {
    const { serverProps, signalRepository } = this.#socket
    const { lidMapping } = signalRepository
    const getLIDForPN = lidMapping.getLIDForPN.bind(lidMapping)
    const getPNForLID = lidMapping.getPNForLID.bind(lidMapping)
    const at = Math.floor(Date.now() / 1000)
    const to = await resolveIssuanceJid(chat, serverProps.lidTrustedTokenIssueToLid, getLIDForPN, getPNForLID)
    const result = (await this.#socket.issuePrivacyTokens([to], at)) as BinaryNode
    await storeTcTokensFromIqResult({ result, fallbackJid: owner, keys: this.#keys, getLIDForPN })
    const current: Token = (await this.#keys.get('tctoken', [owner]))[owner]
    const index = await buildMergedTcTokenIndexWrite(this.#keys, [owner])
    const given = { token: Buffer.alloc(0), ...current, senderTimestamp: at }
    await this.#keys.set({ tctoken: { [owner]: given, ...index } })
  }

  /** Tokens are stored under the LID, if it is known. */
  async #ownerOf(chat: Jid): Promise<Jid> {
    const { lidMapping } = this.#socket.signalRepository
    const jid = jidNormalizedUser(chat)
    return jid.endsWith('@lid') ? jid : ((await lidMapping.getLIDForPN(jid)) ?? jid)
  }

  get #keys(): SignalKeyStoreWithTransaction {
    return this.#socket.authState.keys
  }
}

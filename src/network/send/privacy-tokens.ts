// Tokens by which the network tells who trusts whom: theirs goes along with a message, ours is given to them now and then.

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
  readonly #underWay = new Set<string>()

  constructor(socket: WASocket) {
    this.#socket = socket
  }

  /** What goes into a message to this person; `after` is to be called when the message has left. */
  async forMessageTo(chat: string): Promise<{ nodes: BinaryNode[]; after: () => void }> {
    const owner = await this.#ownerOf(chat)
    const token: Token = (await this.#keys.get('tctoken', [owner]))[owner]
    const isGood =
      this.#socket.serverProps.privacyTokenOn1to1 && token?.token.length && !isTcTokenExpired(token.timestamp)
    const nodes = isGood ? [{ tag: 'tctoken', attrs: {}, content: token.token }] : []
    const after = () => {
      if (shouldSendNewTcToken(token?.senderTimestamp)) this.#issue(chat, owner)
    }
    return { nodes, after }
  }

  /** In the background: a message does not wait for it, and the next one tries again. */
  #issue(chat: string, owner: string): void {
    if (this.#underWay.has(owner)) return
    this.#underWay.add(owner)
    this.#give(chat, owner)
      .catch(() => undefined)
      .finally(() => this.#underWay.delete(owner))
  }

  async #give(chat: string, owner: string): Promise<void> {
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

  /** Tokens are kept under the LID where it is known. */
  async #ownerOf(chat: string): Promise<string> {
    const { lidMapping } = this.#socket.signalRepository
    const jid = jidNormalizedUser(chat)
    return jid.endsWith('@lid') ? jid : ((await lidMapping.getLIDForPN(jid)) ?? jid)
  }

  get #keys(): SignalKeyStoreWithTransaction {
    return this.#socket.authState.keys
  }
}

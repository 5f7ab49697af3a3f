// Sends and issues privacy tokens, which show the network that a message is welcome.
//
// A message carries the token that its recipient gave us (`tctoken`). A recipient who gave us none gets a token that we make
// from the salt of the account and the recipient's LID (`cstoken`, as in whatsmeow `cstoken.go`). The network refuses a first
// message without a token. From time to time we issue a new token of ours to the recipient.

import { createHmac } from 'node:crypto'
import { lidDomain } from '../../core/address.ts'
import type { Jid } from '../../core/ids.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import { saltId } from '../account/nct-salt.ts'
import {
  buildMergedTcTokenIndexWrite,
  isTcTokenExpired,
  jidDecode,
  jidNormalizedUser,
  resolveIssuanceJid,
  shouldSendNewTcToken,
  storeTcTokensFromIqResult,
} from '../library/library.ts'
import type {
  BinaryNode,
  proto,
  SignalDataTypeMap,
  SignalKeyStoreWithTransaction,
  WASocket,
} from '../library/library.ts'

type Token = SignalDataTypeMap['tctoken'] | undefined

export class PrivacyTokens {
  readonly #socket: WASocket
  readonly #underWay = new Set<Jid>()

  constructor(socket: WASocket) {
    this.#socket = socket
  }

  /** The nodes for a message to this person. `written` is to be called when the message has left. */
  async forMessageTo(chat: Jid, message: proto.IMessage): Promise<{ nodes: BinaryNode[]; written: () => void }> {
    const owner = await this.#ownerOf(chat)
    if (!isPerson(chat)) return { nodes: [], written: () => undefined }
    const { [owner]: token, [saltId]: salt } = await this.#keys.get('tctoken', [owner, saltId])
    const written = () => {
      // An edit or a revoke is no sign of a new contact.
      if (!message.protocolMessage && shouldSendNewTcToken(token?.senderTimestamp)) this.#issue(chat, owner)
    }
    return { nodes: this.#nodes(owner, token, salt), written }
  }

  /** The nodes for a question about the picture of this person. */
  async forPictureOf(chat: Jid): Promise<BinaryNode[]> {
    if (!this.#socket.serverProps.profilePicPrivacyToken || !isPerson(chat)) return []
    const owner = await this.#ownerOf(chat)
    const { [owner]: token } = await this.#keys.get('tctoken', [owner])
    return isGood(token) ? [{ tag: 'tctoken', attrs: { t: token.timestamp ?? '' }, content: token.token }] : []
  }

  #nodes(owner: Jid, token: Token, salt: Token): BinaryNode[] {
    if (!this.#socket.serverProps.privacyTokenOn1to1) return []
    if (isGood(token)) return [{ tag: 'tctoken', attrs: {}, content: token.token }]
    if (!salt || !owner.endsWith(`@${lidDomain}`)) return []
    return [{ tag: 'cstoken', attrs: {}, content: createHmac('sha256', salt.token).update(owner).digest() }]
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
    if (jid.endsWith(`@${lidDomain}`)) return jid
    return jidNormalizedUser((await lidMapping.getLIDForPN(jid)) ?? jid)
  }

  get #keys(): SignalKeyStoreWithTransaction {
    return this.#socket.authState.keys
  }
}

function isGood(token: Token): token is SignalDataTypeMap['tctoken'] {
  return token !== undefined && token.token.length > 0 && !isTcTokenExpired(token.timestamp)
}

/** The network itself (user 0) and its bots take no tokens. */
function isPerson(jid: Jid): boolean {
  const { user = '0' } = jidDecode(jid) ?? {}
  return user !== '0' && !/^(1313555\d{4}|131655500\d{2})$/.test(user)
}

// Chooses the address of a message to a person: the phone number or the LID.

import { lidDomain, lidJid, phoneDomain, phoneJid } from '../../core/address.ts'
import type { Person } from '../../core/address.ts'
import type { Jid } from '../../core/ids.ts'
import { ignoreRejection } from '../../lib/ignore.ts'
import type { Addressing } from '../account/addressing.ts'
import { jidDecode, jidNormalizedUser } from '../library/library.ts'
import type { WASocket } from '../library/library.ts'
import { askAboutUsers } from '../queries/user-sync.ts'
import type { Ask } from '../queries/user-sync.ts'

type Deps = { socket: WASocket; addressing: Addressing; ask: Ask }
type Domain = typeof phoneDomain | typeof lidDomain

const about = [{ tag: 'lid', attrs: {} }] as const

export class Addresses {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The address that this account writes to. It is the given one if the other one is not known. */
  async of(chat: Jid): Promise<Jid> {
    const wanted = await this.#deps.addressing.domain()
    if (wanted === undefined || domainOf(chat) === wanted) return chat
    return (await this.otherOf(chat)) ?? chat
  }

  /** The LID of a phone number, or the phone number of a LID. Asks the network for a LID that is not known. */
  async otherOf(address: Jid): Promise<Jid | undefined> {
    if (domainOf(address) !== phoneDomain) return this.#phoneOf(address)
    const { lidMapping } = this.#deps.socket.signalRepository
    const lid = await lidMapping.getLIDForPN(address).catch(() => null)
    return lid === null ? undefined : jidNormalizedUser(lid)
  }

  /** The attribute of the stanza that names the other address of the recipient, if it is known. */
  async peerOf(address: Jid): Promise<Record<string, string>> {
    const domain = domainOf(address)
    const other = domain === phoneDomain ? await this.#knownLid(address) : await this.#phoneOf(address)
    if (other === undefined) return {}
    return domain === phoneDomain ? { peer_recipient_lid: other } : { peer_recipient_pn: other }
  }

  /** Asks the network for the LID of a person again, and stores it. */
  async refresh(address: Jid): Promise<void> {
    const phone = domainOf(address) === phoneDomain ? address : await this.#phoneOf(address)
    if (phone === undefined) return
    const users = [{ tag: 'user', attrs: { jid: phone } }]
    const answers = await askAboutUsers(this.#deps.ask, { context: 'interactive', about, users })
    const lids = answers.flatMap(({ about: facts }) => facts.get('lid')?.attrs['val'] ?? [])
    const { lidMapping } = this.#deps.socket.signalRepository
    await lidMapping.storeLIDPNMappings(lids.map((lid) => ({ lid, pn: phone })))
  }

  /** The network has named the addresses of a person. */
  async note({ phone, lid }: Person): Promise<void> {
    if (phone === null || lid === null) return
    const { lidMapping } = this.#deps.socket.signalRepository
    await lidMapping.storeLIDPNMappings([{ pn: phoneJid(phone), lid: lidJid(lid) }])
  }

  /** The network has taken this address after it refused the other one with this code. */
  learn(taken: Jid, refusal: number | null): void {
    const domain = domainOf(taken)
    // A LID may be refused for many reasons. Only this code speaks of the address.
    const isTelling = domain === lidDomain || refusal === badAddress
    if (domain !== undefined && isTelling) this.#deps.addressing.learn(domain).catch(ignoreRejection)
  }

  async #phoneOf(address: Jid): Promise<Jid | undefined> {
    if (domainOf(address) !== lidDomain) return undefined
    const phone = await this.#deps.socket.signalRepository.lidMapping.getPNForLID(address)
    return phone === null ? undefined : jidNormalizedUser(phone)
  }

  /** Does not ask the network. */
  async #knownLid(address: Jid): Promise<Jid | undefined> {
    const user = jidDecode(address)?.user ?? ''
    const { [user]: lid } = await this.#deps.socket.authState.keys.get('lid-mapping', [user])
    return lid === undefined ? undefined : lidJid(lid)
  }
}

export const badAddress = 400

/** Undefined for groups, and for accounts that a provider hosts: they have one address. */
function domainOf(address: Jid): Domain | undefined {
  const server = jidDecode(address)?.server
  return server === phoneDomain || server === lidDomain ? server : undefined
}

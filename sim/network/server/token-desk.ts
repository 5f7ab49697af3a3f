// Keeps the privacy tokens of the network and checks those that messages carry.
//
// A trusted-contact token (`tctoken`) is a token that a person gave to the account. A `cstoken` is a MAC that the account makes
// with the salt of its phone. A real server refuses a message to a stranger that carries neither (463).
import type { SeededRandom } from '../seeded-random.ts'
import { hmac } from '../signal/primitives.ts'
import { bytesOf, child, children, stanza, unixSeconds, type Stanza } from '../wire/stanza.ts'
import type { Directory } from './directory.ts'
import type { IqTable } from './iq-router.ts'
import type { User } from './user.ts'
import type { SimClock } from '../../shiftable-clock.ts'

type Deps = { directory: Directory; random: SeededRandom; clock: SimClock; violate: (rule: string) => void }
type Token = 'right' | 'wrong' | 'none'

export class TokenDesk {
  readonly #deps: Deps
  /** Per person: the token that this person gave to each account. */
  readonly #given = new Map<User, Map<User, Buffer>>()
  /** Per person: the users that this person has written to. They are no strangers. */
  readonly #known = new Map<User, Set<User>>()
  /** The ids of messages to strangers that carried no token. */
  readonly withoutToken: string[] = []

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get answers(): IqTable {
    return {
      'privacy set tokens': ({ device, content }) => {
        for (const { attrs } of children(content, 'token')) {
          const holder = this.#deps.directory.find(attrs.jid ?? '')
          if (holder) this.give(device.user, holder)
        }
        return []
      },
    }
  }

  /** A new token from one user to another. The server tells the devices of the one who gets it. */
  give(giver: User, holder: User): void {
    const { random, clock } = this.#deps
    const token = random.bytes(16)
    const given = this.#given.get(giver) ?? new Map<User, Buffer>()
    this.#given.set(giver, given.set(holder, token))
    const t = unixSeconds(clock)
    const node = stanza('token', { jid: holder.pnJid, t, type: 'trusted_contact' }, token)
    const attributes = { from: giver.pnJid, sender_lid: giver.shownLid, type: 'privacy_token', id: random.hex(6), t }
    const news = stanza('notification', attributes, [stanza('tokens', {}, [node])])
    for (const device of holder.devices.values()) device.deliver(news)
  }

  noteMessage(sender: User, recipient: User): void {
    const known = this.#known.get(sender) ?? new Set()
    this.#known.set(sender, known.add(recipient))
  }

  /** True for a message to a stranger without a right token. A wrong token is reported as well. */
  isUnwelcome(sender: User, node: Stanza): boolean {
    const recipient = this.#deps.directory.find(node.attrs.to ?? '')
    // A message that is repeated for one device needs no token.
    if (!recipient || recipient === sender || !child(node, 'participants')) return false
    const token = this.#tokenOf(sender, recipient, node)
    const id = node.attrs.id ?? ''
    if (token === 'wrong') this.#deps.violate(`the privacy token of message ${id} is not right`)
    if (token === 'right' || this.#known.get(recipient)?.has(sender)) return false
    if (token === 'none') this.withoutToken.push(id)
    return true
  }

  #tokenOf(sender: User, recipient: User, node: Stanza): Token {
    const trusted = bytesOf(child(node, 'tctoken'))
    const own = bytesOf(child(node, 'cstoken'))
    if (!trusted && !own) return 'none'
    const given = this.#given.get(recipient)?.get(sender)
    const made = sender.nctSalt && hmac(sender.nctSalt, Buffer.from(recipient.lidJid))
    const isRight = trusted ? given?.equals(trusted) : made?.equals(own ?? Buffer.alloc(0))
    return isRight ? 'right' : 'wrong'
  }
}

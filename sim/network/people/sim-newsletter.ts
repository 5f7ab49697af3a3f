// A channel: its posts reach the clients of its followers without encryption and belong to no chat.
import type { SimClock } from '../../shiftable-clock.ts'
import { proto } from '../library.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { CompanionDevice } from '../server/companion-device.ts'
import { stanza, unixSeconds, type Stanza } from '../wire/stanza.ts'

type Follower = { readonly companions: readonly CompanionDevice[] }
type Deps = { random: SeededRandom; clock: SimClock; followers: Follower[] }

export class SimNewsletter {
  readonly jid: string
  readonly #deps: Deps
  #posts = 0

  constructor(deps: Deps) {
    this.#deps = deps
    this.jid = `120363${deps.random.digits(12)}@newsletter`
  }

  /** Returns the id of the post. */
  post(message: proto.IMessage): string {
    return this.deliver(stanza('plaintext', {}, proto.Message.encode(message).finish()))
  }

  /** Delivers any content, also one that no client knows. Returns the id. */
  deliver(content: Stanza): string {
    const { random, clock, followers } = this.#deps
    const id = random.hex(16)
    this.#posts += 1
    const attributes = { id, from: this.jid, type: 'text', server_id: String(this.#posts), t: unixSeconds(clock) }
    const node = stanza('message', attributes, [content])
    for (const device of followers.flatMap((one) => one.companions)) device.deliver(node)
    return id
  }
}

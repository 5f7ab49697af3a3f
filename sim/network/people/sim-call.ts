// A call of a simulated person: it rings, and can be ended, taken on another device, or rejected by the person called.
import type { EventLog } from '../../event-log.ts'
import type { User } from '../server/user.ts'
import { children, stanza, unixSeconds, type Stanza } from '../wire/stanza.ts'
import type { SimClock } from '../../shiftable-clock.ts'
import type { SeededRandom } from '../seeded-random.ts'

export type CallOptions = { video?: boolean; groupJid?: string }

type Deps = {
  caller: User
  called: User
  /** What the phone of the caller gets: a rejection is among it. */
  seen: EventLog<Stanza>
  random: SeededRandom
  clock: SimClock
}

export class SimCall {
  readonly id: string
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
    this.id = deps.random.hex(16)
  }

  ring({ video = false, groupJid }: CallOptions): void {
    this.#say('offer', groupJid === undefined ? {} : { 'group-jid': groupJid }, video ? ['audio', 'video'] : ['audio'])
  }

  /** The caller hangs up, or gives up after a while. */
  end(timeout = false): void {
    this.#say('terminate', timeout ? { reason: 'timeout' } : {})
  }

  /** The owner of the called account takes the call on the phone. The other devices stop ringing. */
  takeElsewhere(): void {
    this.#say('terminate', { reason: 'accepted_elsewhere' })
  }

  get isRejected(): boolean {
    return this.#deps.seen.entries.some(this.#isRejection)
  }

  /** Resolves when the phone of the caller shows that the call was rejected. */
  async rejected(): Promise<void> {
    await this.#deps.seen.waitFor(`the rejection of ${this.id}`, this.#isRejection)
  }

  readonly #isRejection = (node: Stanza): boolean => {
    const caller = this.#deps.caller.jid('lid')
    return (
      node.tag === 'call' &&
      children(node, 'reject').some(({ attrs }) => attrs['call-id'] === this.id && attrs['call-creator'] === caller)
    )
  }

  #say(tag: string, extra: Record<string, string>, inside: string[] = []): void {
    const { caller, called, random, clock } = this.#deps
    const from = caller.jid('lid')
    const attributes = { 'call-id': this.id, 'call-creator': from, caller_pn: caller.shownPhone, ...extra }
    const content = stanza(
      tag,
      attributes,
      inside.map((one) => stanza(one, {})),
    )
    const outer = { from, id: random.hex(8), t: unixSeconds(clock), notify: caller.pushName }
    for (const device of called.devices.values()) device.deliver(stanza('call', outer, [content]))
  }
}

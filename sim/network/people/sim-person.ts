// A simulated person: besides writing, it can type, change its presence and call.
import { CompanionDevice } from '../server/companion-device.ts'
import { User } from '../server/user.ts'
import { stanza } from '../wire/stanza.ts'
import { chatOf, type Recipient } from './author.ts'
import type { Correspondent } from './correspondent.ts'
import { FileAuthor } from './file-author.ts'
import { SimCall, type CallOptions } from './sim-call.ts'

export class SimPerson extends FileAuthor {
  /** Tells the subscribed devices of a user whether this person is online. */
  presence(to: Recipient, state: 'available' | 'unavailable', lastSeen?: number): void {
    const chat = chatOf(to)
    if (!(chat instanceof User)) throw new Error('presence is told to people, not to groups')
    const last = lastSeen === undefined ? undefined : String(lastSeen)
    const type = state === 'unavailable' ? 'unavailable' : undefined
    for (const device of chat.devices.values()) {
      if (device instanceof CompanionDevice && !device.subscriptions.has(this.user)) continue
      device.deliver(stanza('presence', { from: this.user.jid(this.parts.addressing), type, last }))
    }
  }

  /** Gives the account a token of trust, as phones do when they write to it. */
  trust(account: Correspondent): void {
    this.parts.tokens.give(this.user, account.user)
  }

  /** Starts a call. A test can end the returned call, let it time out, or wait for its rejection. */
  call(to: Recipient, options: CallOptions = {}): SimCall {
    const called = chatOf(to)
    if (!(called instanceof User)) throw new Error('calls ring at people')
    const { random, side: seen, user: caller } = this
    const call = new SimCall({ caller, called, seen, random, clock: this.parts.clock })
    call.ring(options)
    return call
  }
}

// A simulated person: besides writing, it can type, change its presence and call.
import { CompanionDevice } from '../server/companion-device.ts'
import { User } from '../server/user.ts'
import { stanza, unixSeconds } from '../wire/stanza.ts'
import { chatOf, type Recipient } from './author.ts'
import type { Correspondent } from './correspondent.ts'
import { FileAuthor } from './file-author.ts'

export type CallOptions = { video?: boolean; groupJid?: string }

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

  /** Starts a call. A test can end the returned call or let it time out. */
  call(to: Recipient, { video = false, groupJid }: CallOptions = {}): { id: string; end: (timeout?: boolean) => void } {
    const chat = chatOf(to)
    if (!(chat instanceof User)) throw new Error('calls ring at people')
    const id = this.random.hex(16)
    const from = this.user.jid('lid')
    const say = (tag: string, extra: Record<string, string>, inside: string[]): void => {
      const attributes = { 'call-id': id, 'call-creator': from, caller_pn: this.user.shownPhone, ...extra }
      const content = stanza(
        tag,
        attributes,
        inside.map((one) => stanza(one, {})),
      )
      const outer = { from, id: this.random.hex(8), t: unixSeconds(this.parts.clock), notify: this.user.pushName }
      for (const device of chat.devices.values()) device.deliver(stanza('call', outer, [content]))
    }
    say('offer', groupJid === undefined ? {} : { 'group-jid': groupJid }, video ? ['audio', 'video'] : ['audio'])
    return {
      id,
      end: (timeout = false) => {
        say('terminate', timeout ? { reason: 'timeout' } : {}, [])
      },
    }
  }
}

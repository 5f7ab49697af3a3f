// The outside world of the outbound benchmark, in a process of its own: whom accounts write to, and a helpdesk.

import { calm } from '../sim/helpdesk/settings.ts'
import { BufferJSON } from '../sim/network/library.ts'
import { SimWorld } from '../sim/sim-world.ts'
import { serveParent } from './child.ts'
import { ownCpuMs } from './own-use.ts'

const { network, helpdesk } = await SimWorld.start({
  seed: 'bench outbound',
  network: { logLimit: 0 },
  helpdesk: { messagesPerMinute: 1_000_000, quirks: calm },
})
const members = Array.from({ length: 99 }, (_, index) => network.person({ phone: `5511888880${100 + index}` }))
// Receipts cost both ways the same, and in a group more than the sending: here it is the sending that is measured.
for (const member of members) member.confirmsDelivery = false
const accounts = new Map<string, ReturnType<typeof network.account>>()

const desk = {
  cpuMs: ownCpuMs,
  facts: () => ({ url: network.url, rootKey: network.rootKey.toString('hex'), helpdesk: helpdesk.facts }),
  /** Credentials that log in without a pairing, in the library's own JSON, and whom each account writes to. */
  link: (numbers: string[]) =>
    numbers.map((number, index) => {
      const phone = network.account({ phone: number })
      accounts.set(number, phone)
      const [founder, ...others] = members
      const person = members[index % members.length]
      if (!founder || !person) throw new Error('there is nobody')
      const group = network.group(`Team ${number}`, founder, [phone, ...others])
      const credentials = JSON.stringify(network.linkReady(phone), BufferJSON.replacer)
      return { credentials, person: person.user.pnJid, group: group.jid }
    }),
  online: (numbers: string[]) =>
    numbers
      .flatMap((number) => accounts.get(number)?.companions ?? [])
      .filter(({ live, connection }) => live && connection).length,
  /** Messages that reached a person, counted once per person. */
  received: () => members.reduce((sum, { messages }) => sum + messages.length, 0),
  problems: () => {
    const unread = members.reduce((sum, { undecryptable }) => sum + undecryptable.length, 0)
    return [...network.log.problems, ...(unread > 0 ? [`${unread} messages could not be read`] : [])]
  },
}

export type SimDesk = typeof desk

serveParent(desk)
